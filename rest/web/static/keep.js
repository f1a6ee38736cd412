// Changes of texts with versions: a text that somebody else has saved since it was read is not written over without a question.
"use strict";
const Keep = (() => {
  // read returns what is deployed, undefined if it was deleted.
  const read = (family, name) => run(`${family}.Read`, { name }).catch((gone) => {
    if (gone.status !== 404) throw gone;
  });

  // saved says who saved a version when.
  const saved = (noun, v) => [`${v.author} saved version ${v.version} of this ${noun} `, ago(v.time), v.note ? ` (${v.note}).` : "."];

  // asked shows both texts, and returns which one to keep. Theirs is the text that is deployed, undefined if it was deleted.
  const asked = (noun, mine, theirs, said) => {
    const answer = Dialogs.open(theirs ? {
      title: "Changed by somebody else", action: "Keep mine", other: ["Use the saved version", "theirs"], cancel: "Continue editing", wide: true, act: async () => "mine",
      body: [make("p", {}, ...saved(noun, theirs), " Nothing of yours is saved yet. That version stays readable whichever you keep."),
        make("div", { class: "compare" },
          make("section", { class: "mine" }, make("h3", {}, "Yours"), make("pre", { id: "conflict-mine", tabindex: "0", "aria-label": "Your text" })),
          make("section", { class: "theirs" }, make("h3", {}, `Version ${theirs.version}`), make("pre", { id: "conflict-theirs", tabindex: "0", "aria-label": "The saved text" })))],
    } : { title: "Deleted by somebody else", action: "Save it again", cancel: "Continue editing", act: async () => "mine", body: [make("p", {}, `${said}.`)] });
    if (theirs) Conflict.show(mine, theirs.source);
    return answer;
  };

  // save saves the text of a kind, and returns the version that was made; with a source if it is that of somebody else, to show
  // instead. Undefined: nothing was saved. The token is that of the version that was read, "" for a new text.
  const save = async (family, noun, params, token) => {
    try {
      return await run(`${family}.Save`, { ...params, changeToken: token });
    } catch (error) {
      if (error.code !== "precondition_failed") throw error;
      const theirs = await read(family, error.subject);
      const answer = await asked(noun, params.source, theirs, error.message);
      if (answer === "theirs") return theirs;
      return answer === "mine" ? save(family, noun, params, theirs?.changeToken || "") : undefined;
    }
  };

  // act restores or deletes what was read with the token, as params say; if somebody else has changed it since, only after a question.
  // Undefined: nothing was done.
  const act = async (family, noun, verb, params, token) => {
    try {
      return (await run(`${family}.${verb}`, { ...params, changeToken: token })) || true; // deleting returns nothing
    } catch (error) {
      if (error.code !== "precondition_failed") throw error;
      const theirs = await read(family, params.name);
      const what = verb === "Delete" ? `Delete ${params.name}` : `Restore version ${params.version}`;
      const sure = await Dialogs.open({ title: `${theirs ? "Changed" : "Deleted"} by somebody else`, action: what, danger: true, body: [theirs
        ? make("p", {}, ...saved(noun, theirs), ` ${what} anyway? Version ${theirs.version} stays readable.`) : make("p", {}, `${error.message}. ${what} anyway?`)] });
      return sure ? act(family, noun, verb, params, theirs?.changeToken || "") : undefined;
    }
  };
  return { act, save };
})();
