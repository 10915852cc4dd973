"use strict";
// Holds a form back until the passkey has answered, and sends its answer along. It talks to nobody: the form does.
(() => {
  const form = document.querySelector("form[data-passkey]");
  const note = document.getElementById("passkey-note");
  const answer = form.elements.namedItem("credential");
  const asked = JSON.parse(form.dataset.passkey);
  const isMaking = "pubKeyCredParams" in asked;

  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (char) => char.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const ids = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

  const make = async () => {
    const publicKey = { ...asked, challenge: bytes(asked.challenge), excludeCredentials: ids(asked.excludeCredentials) };
    publicKey.user = { ...asked.user, id: bytes(asked.user.id) };
    const { id, type, response } = await navigator.credentials.create({ publicKey });
    return { id, rawId: id, type, response: {
      clientDataJSON: text(response.clientDataJSON), attestationObject: text(response.attestationObject) } };
  };

  const sign = async () => {
    const publicKey = { ...asked, challenge: bytes(asked.challenge), allowCredentials: ids(asked.allowCredentials) };
    const { id, type, response } = await navigator.credentials.get({ publicKey });
    return { id, rawId: id, type, response: {
      clientDataJSON: text(response.clientDataJSON), authenticatorData: text(response.authenticatorData),
      signature: text(response.signature), userHandle: response.userHandle ? text(response.userHandle) : null } };
  };

  const tell = (word) => { note.textContent = form.dataset[word]; };
  const why = (error) => ({ InvalidStateError: "known", SecurityError: "wrongSite" })[error.name] ?? "nothing";

  form.addEventListener("submit", async (event) => {
    if (event.submitter?.dataset.withPasskey === undefined || answer.value) return;
    event.preventDefault();
    if (!window.PublicKeyCredential) return tell("missing");
    tell("waiting");
    try {
      answer.value = JSON.stringify(await (isMaking ? make() : sign()));
    } catch (error) {
      return tell(why(error));
    }
    form.requestSubmit(event.submitter);
  });
  window.addEventListener("pageshow", () => { answer.value = ""; note.textContent = ""; });
})();
