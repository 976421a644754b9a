"""
`make browsers`: twelve things that the panel does, in Firefox and in WebKit.

By WebDriver and Marionette, in the programs of the system, Debian's `firefox-esr`,
`webkit2gtk-driver` and `xvfb`. No part of `make test`.
"""
