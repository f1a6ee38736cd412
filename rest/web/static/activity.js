// The console's page of what the user was told.
"use strict";
(() => {
  const item = (n) => make("li", {},
    make("div", {}, make("strong", {}, n.title), make("p", {}, `Your link “${n.name}” was opened for the first time.`)),
    make("span", { class: "soft small" }, ago(n.created_at)));

  const draw = (notices) => {
    byId("list").replaceChildren(...(notices.length ? notices.map(item) : [make("li", { class: "soft" }, "Nothing yet. Select “Notify me when it is first opened” when you create a private link.")]));
  };
  tried(pager({ ask: numbered("/v1/notices", 30), draw }).show)();
})();
