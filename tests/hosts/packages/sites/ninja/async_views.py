from adrf.views import APIView
from rest_framework import permissions
from rest_framework.authentication import SessionAuthentication
from rest_framework.response import Response

from tests.hosts.packages.sites.ninja.models import Tag


class TagCount(APIView):
    authentication_classes = (SessionAuthentication,)
    permission_classes = (permissions.IsAdminUser,)

    async def get(self, request):
        """Count the tags."""
        return Response({"count": await Tag.objects.acount()})

    async def post(self, request):
        """Add a tag."""
        tag = await Tag.objects.acreate(name=request.data["name"])
        return Response({"id": tag.pk}, status=201)
