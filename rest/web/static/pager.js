// Lists of numbered pages: what turns them has the ids prev, place and next.
"use strict";
// ask(page) resolves to the entries of a page, and either to how many pages there are or to whether there are more; draw shows entries.
// Of answers that cross, the one is shown that was asked for last.
const pager = ({ ask, draw }) => {
  let page = 1;
  let turn = 0;
  const show = async () => {
    const mine = ++turn;
    const { entries, pages, more = page < pages } = await ask(page);
    if (mine !== turn) return;
    draw(entries);
    byId("place").textContent = pages ? `Page ${page} of ${pages}` : `Page ${page}`;
    byId("place").parentElement.hidden = page === 1 && !more;
    byId("prev").disabled = page === 1;
    byId("next").disabled = !more;
  };
  const go = (to) => {
    page = to;
    return show();
  };
  byId("prev").addEventListener("click", tried(() => go(page - 1)));
  byId("next").addEventListener("click", tried(() => go(page + 1)));
  return { show, go };
};

// numbered asks for pages of so many entries of a path that says how many there are.
const numbered = (path, per) => async (page) => {
  const { answer } = await call("GET", `${path}?page=${page}&per_page=${per}`);
  return { entries: answer.data, pages: Math.max(1, Math.ceil(answer.meta.total / per)) };
};
