// What the address says behind "#" is still there after signing in.
"use strict";
document.forms[0].action += location.hash;
