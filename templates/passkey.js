// Asks the authenticator for what the page needs, and sends its answer with the form. Without scripts, the page says that it needs them.
"use strict";

/** WebAuthn works on bytes; the page and the form have them as base64url. */
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const withBytes = (list) => (list ?? []).map((one) => ({ ...one, id: toBytes(one.id) }));

/** PublicKeyCredential.toJSON of WebAuthn 3, which not every browser has. */
function asJson({ id, type, response, authenticatorAttachment }) {
  const answer = { clientDataJSON: toText(response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) answer[name] = toText(response[name]);
  }
  if (response.getTransports) answer.transports = response.getTransports();
  return { id, rawId: id, type, response: answer, authenticatorAttachment, clientExtensionResults: {} };
}

function ask(kind, options) {
  const publicKey = { ...options, challenge: toBytes(options.challenge) };
  if (kind === "get") {
    return navigator.credentials.get({ publicKey: { ...publicKey, allowCredentials: withBytes(options.allowCredentials) } });
  }
  const user = { ...options.user, id: toBytes(options.user.id) };
  const excludeCredentials = withBytes(options.excludeCredentials);
  return navigator.credentials.create({ publicKey: { ...publicKey, user, excludeCredentials } });
}

for (const button of document.querySelectorAll("[data-passkey]")) {
  button.disabled = false;
  button.addEventListener("click", async () => {
    const { form } = button;
    const failed = form.querySelector("[data-passkey-failed]");
    failed.hidden = true;
    try {
      const credential = await ask(button.dataset.passkey, JSON.parse(button.dataset.options));
      form.elements.namedItem("passkey").value = JSON.stringify(asJson(credential));
      form.submit();
    } catch {
      // Canceled, or no authenticator has a passkey for this page.
      failed.hidden = false;
    }
  });
}
