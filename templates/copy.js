// Copies commands. Without scripts there are no buttons, and people select the text.
"use strict";

document.documentElement.dataset.scripts = "";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button === null) return;
  const words = button.textContent;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.textContent = button.dataset.copied;
  setTimeout(() => (button.textContent = words), 1500);
});
