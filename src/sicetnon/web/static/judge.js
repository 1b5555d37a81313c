"use strict";
// The page works without this script, a form for each vote. With it, one key saves a vote and shows
// what comes next. Votes go into a queue on this device first, which survives a lost connection and
// a closed page. Each has a key of its own, so that one that is sent twice is saved once.
(() => {
  const root = document.getElementById("judging");
  if (!root) return;
  const at = (id) => document.getElementById(id);
  const { assessor, pool } = root.dataset;
  const place = at("place"), end = at("end"), state = at("state"), refused = at("refused");
  const undoForm = at("undo"), undoButton = undoForm.querySelector("button");
  const shortcuts = at("shortcuts");
  const NO_ARGUMENT = "-2";
  const AHEAD = 20, FEW = 8, BATCH = 50, LONGEST_WAIT = 15000;

  // --- what is kept on this device ---

  const memory = new Map();
  const kept = {
    read(name) {
      try { return localStorage.getItem(name); } catch { return memory.get(name) ?? null; }
    },
    write(name, text) {
      try { localStorage.setItem(name, text); } catch { memory.set(name, text); }
    },
  };
  const queueName = `sicetnon judge ${pool} ${assessor}`;
  const queue = () => {
    try { return JSON.parse(kept.read(queueName) ?? "[]"); } catch { return []; }
  };
  const keep = (actions) => kept.write(queueName, JSON.stringify(actions));
  const newKey = () =>
    [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  // --- the documents: each is an element, made by the server ---

  let csrf = root.dataset.csrf;
  let shown = null; // the document on the page
  let next = []; // documents that follow
  const past = []; // what was done here, for undo
  const known = new Set(); // numbers of documents that this page has had
  let isAway = false; // whether the last request found no server
  let done = "Saved"; // what is said once all is saved
  let why = end.querySelector(".lead").textContent; // why nothing is left

  const steps = (card) => [...card.querySelectorAll(".step")];
  const open = (card) => steps(card).find((step) => !step.dataset.label);
  const itemOf = (card) => Number(card.dataset.item);

  const take = (card) => {
    known.add(itemOf(card));
    // what waits in the queue was judged before the page was loaded
    for (const action of queue()) {
      if (action.item !== itemOf(card)) continue;
      if (action.kind === "vote") label(card.querySelector(`.step[data-dimension="${action.dimension}"]`), action.label);
      if (action.kind === "skip") card.dataset.skipped = "yes";
    }
    return card;
  };

  const label = (step, value) => {
    if (!step) return;
    step.dataset.label = value;
    for (const button of step.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.value === value));
    }
  };

  const show = (card) => {
    shown = card ?? null;
    place.replaceChildren(...(shown ? [shown] : []));
    end.hidden = !!shown;
    const now = shown && open(shown);
    if (shown) for (const step of steps(shown)) tellNow(step, step === now);
    if (shown) document.title = `${shown.querySelector("h1").textContent} – Judge – Sic et Non`;
    tellEnd();
    undoButton.disabled = !past.length && !undoForm.elements.target;
  };

  const tellNow = (step, isNow) => {
    step.classList.toggle("now", isNow);
    if (isNow) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
  };

  const tellEnd = () => {
    const words = end.querySelector(".lead");
    words.textContent = isAway ? words.dataset.away : why || "Looking for the next document.";
  };

  const goOn = () => {
    if (shown && open(shown) && shown.dataset.skipped !== "yes") {
      show(shown);
      return;
    }
    do { shown = next.shift(); } while (shown && (!open(shown) || shown.dataset.skipped === "yes"));
    show(shown);
    scrollTo(0, 0);
    (shown ?? end).querySelector("h1").focus({ preventScroll: true });
    // what waits is sent first, so that the server knows what is left
    if (next.length < FEW) sent().then(fetchMore);
  };

  // --- what the assessor does ---

  const act = (action) => {
    done = "Saved";
    const whole = { key: newKey(), ...action };
    keep([...queue(), whole]);
    send();
    return whole.key;
  };

  const vote = (step, value) => {
    const card = shown, before = step.dataset.label;
    const key = act({ kind: "vote", item: itemOf(card), dimension: step.dataset.dimension, label: value });
    past.push({ card, key, step, before });
    label(step, value);
    if (step.dataset.dimension === "relevance" && value === NO_ARGUMENT) fill(card);
    goOn();
  };

  // what is no argument has no quality and no side to ask for
  const fill = (card) => {
    for (const step of steps(card)) {
      const { without, dimension } = step.dataset;
      if (step.dataset.label || !without) continue;
      const key = act({ kind: "vote", item: itemOf(card), dimension, label: without });
      past.push({ card, key, step, before: "" });
      label(step, without);
    }
  };

  const skip = () => {
    const card = shown;
    past.push({ card, key: act({ kind: "skip", item: itemOf(card) }) });
    card.dataset.skipped = "yes";
    goOn();
  };

  const undo = () => {
    const card = past.at(-1)?.card;
    if (!card) {
      // what was done before the page was loaded is undone by the server
      if (undoForm.elements.target) sent().then(() => undoForm.submit());
      return;
    }
    // a document is undone whole
    while (past.at(-1)?.card === card) {
      const { key, step, before } = past.pop();
      act({ kind: "undo", item: itemOf(card), target: key });
      if (step) label(step, before);
      else delete card.dataset.skipped;
    }
    if (shown && shown !== card) next.unshift(shown);
    show(card);
    done = "Undone: what you said of this document";
    say(done);
  };

  const note = (form) => {
    act({ kind: "note", item: itemOf(shown), note: form.elements.note.value });
    say("Note kept");
  };

  // --- sending ---

  let sending = null, timer = 0, wait = 500;

  const say = (words, waits = false) => {
    state.textContent = words;
    state.classList.toggle("waits", waits);
  };

  const ask = async (address, options = {}) => {
    const answer = await fetch(address, { ...options, headers: { Accept: "application/json", ...options.headers } });
    if (!answer.ok) throw Object.assign(new Error(String(answer.status)), { status: answer.status });
    return answer.json();
  };

  const tellProgress = (progress, waiting) => {
    const skipped = progress.skipped ? `, ${progress.skipped} skipped` : "";
    at("count").textContent = `${progress.judged} of ${progress.most} judged${skipped}`;
    at("done").max = progress.most || 1;
    at("done").value = progress.judged;
    if (!waiting) say(done);
  };

  const sendAll = async () => {
    for (let actions = queue(); actions.length; actions = queue()) {
      const part = actions.slice(0, BATCH);
      const body = JSON.stringify({ assessor, actions: part });
      const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
      const said = await ask(`${location.pathname}/actions`, { method: "POST", body, headers });
      const done = new Set(said.receipts.map((receipt) => receipt.key));
      const left = queue().filter((action) => !done.has(action.key));
      keep(left);
      for (const receipt of said.receipts) {
        if (receipt.outcome === "refused") tellRefused(receipt, part);
      }
      tellProgress(said.progress, left.length);
    }
  };

  const tellRefused = (receipt, actions) => {
    const action = actions.find((each) => each.key === receipt.key);
    const line = document.createElement("p");
    line.textContent = `Not saved (${action.kind}${action.label ? ` ${action.label}` : ""}): ${receipt.reason}.`;
    refused.append(line);
  };

  const send = () => {
    sending ??= sendAll()
      .then(() => { wait = 500; isAway = false; if (!shown) fetchMore(); })
      .catch((error) => lose(error))
      .finally(() => { sending = null; });
    return sending;
  };

  const sent = async () => { if (queue().length) await send(); };

  const lose = async (error) => {
    isAway = !error.status;
    const count = queue().length;
    const votes = count === 1 ? "1 action waits" : `${count} actions wait`;
    if (error.status === 401) {
      say(`${votes} on this device: the server asks for its token; load the page again`, true);
      return;
    }
    const fault = error.status === 507 ? "The server's disk is full" : error.status ? "The server is busy" : "No connection";
    say(`${fault}: ${votes} on this device`, true);
    // a server that was started again has new tokens for forms
    if (error.status === 403) await fetchMore();
    clearTimeout(timer);
    timer = setTimeout(send, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  };

  let fetching = null;
  const fetchMore = () => {
    fetching ??= ask(`${location.pathname}/next?${new URLSearchParams({ assessor, count: AHEAD })}`)
      .then((said) => {
        csrf = said.csrf;
        isAway = false;
        why = said.end || why;
        for (const { id, html } of said.items) {
          if (known.has(id)) continue;
          const holder = document.createElement("template");
          holder.innerHTML = html; // made by the server, which escapes all texts
          next.push(take(holder.content.querySelector("article")));
        }
        if (!shown && next.length) goOn();
        tellEnd();
      })
      .catch((error) => {
        isAway = !error.status;
        tellEnd();
        if (!shown) setTimeout(fetchMore, wait);
      })
      .finally(() => { fetching = null; });
    return fetching;
  };

  // --- keys and buttons ---

  root.addEventListener("submit", (event) => {
    const form = event.target;
    if (form === undoForm) { event.preventDefault(); undo(); return; }
    if (!shown?.contains(form)) return;
    event.preventDefault();
    if (form.matches(".step")) vote(form, event.submitter.value);
    else if (form.matches(".skip-it")) skip();
    else note(form);
  });

  document.addEventListener("keydown", (event) => {
    const isText = event.target.matches?.("textarea, input[type=text], input[type=search]");
    if (event.key === "Escape" && isText) { event.target.blur(); return; }
    if (isText || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !shortcuts.checked) return;
    if (event.key === "u") { event.preventDefault(); if (!undoButton.disabled) undo(); return; }
    if (!shown) return;
    const step = open(shown);
    const button = step && [...step.querySelectorAll("button")].find((each) => each.dataset.key === event.key);
    if (button) { event.preventDefault(); vote(step, button.value); }
    else if (event.key === "s") { event.preventDefault(); skip(); }
    else if (event.key === "n") {
      event.preventDefault();
      const field = shown.querySelector("textarea");
      field.closest("details").open = true;
      field.focus();
    }
  });

  const shortcutsName = "sicetnon judge shortcuts";
  shortcuts.checked = kept.read(shortcutsName) !== "off";
  const tellKeys = () => root.classList.toggle("with-keys", shortcuts.checked);
  shortcuts.addEventListener("change", () => {
    kept.write(shortcutsName, shortcuts.checked ? "on" : "off");
    tellKeys();
  });
  addEventListener("online", () => { wait = 500; sent().then(fetchMore); });

  at("keys").hidden = false;
  root.classList.add("live");
  tellKeys();
  const first = place.querySelector("article");
  if (first) take(first);
  shown = first;
  if (first && open(first) && first.dataset.skipped !== "yes") show(first);
  else goOn();
  if (queue().length) send();
  fetchMore();
})();
