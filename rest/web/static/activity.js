// The console's page of what the user was told.
"use strict";
(() => {
  const per = 30;
  let page = 1;
  const item = (n) => make("li", {},
    make("div", {}, make("strong", {}, n.title), make("p", {}, `Your link “${n.name}” was opened for the first time.`)),
    make("span", { class: "soft small" }, ago(n.created_at)));

  const show = async () => {
    const asked = page;
    const { answer } = await call("GET", `/v1/notices?page=${page}&per_page=${per}`);
    if (asked !== page) return; // another page is asked for
    byId("list").replaceChildren(...(answer.data.length ? answer.data.map(item) : [make("li", { class: "soft" }, "Nothing yet. Select “Notify me when it is first opened” when you create a private link.")]));
    const last = Math.max(1, Math.ceil(answer.meta.total / per));
    byId("place").textContent = `Page ${page} of ${last}`;
    byId("place").parentElement.hidden = last === 1;
    byId("prev").disabled = page <= 1;
    byId("next").disabled = page >= last;
  };
  byId("prev").addEventListener("click", tried(() => (page--, show())));
  byId("next").addEventListener("click", tried(() => (page++, show())));
  tried(show)();
})();
