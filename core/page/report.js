// report.js - what a page cannot do without a script: copy commands, switch the theme, show local
// time, open everything for printing. The page is complete without it.
'use strict';
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const root = document.documentElement;

  // Copying. A command is shown as it is copied.
  for (const button of all('.copy')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const code = button.parentElement.querySelector('code');
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = 'Copied';
      } catch {                           // not allowed here: select it for the user
        getSelection().selectAllChildren(code);
        button.textContent = 'Press Ctrl-C';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
  }

  // The theme: that of the system, until the button has been pressed.
  for (const button of all('.theme')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      root.dataset.theme = getComputedStyle(root).colorScheme === 'dark' ? 'light' : 'dark';
      dispatchEvent(new Event('themechange'));
    });
  }

  // Local time beside UTC, where they differ.
  for (const time of all('time[datetime]')) {
    const at = new Date(time.dateTime);
    if (isNaN(at) || at.getTimezoneOffset() === 0) continue;
    time.title = at.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' });
    const local = document.createElement('span');
    local.className = 'local';
    local.textContent = ` (${at.toLocaleTimeString()} here)`;
    time.after(local);
  }

  // A link to a place in a closed part opens it; so does printing.
  const open = (element) => {
    for (let e = element; e; e = e.parentElement) if (e.localName === 'details') e.open = true;
  };
  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1).split('?')[0]);
    const target = id && document.getElementById(id);
    if (target) { open(target); target.scrollIntoView(); }
  };
  addEventListener('hashchange', follow);
  follow();
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('details:not([open])');
    for (const details of closed) details.open = true;
  });
  addEventListener('afterprint', () => { for (const details of closed) details.open = false; });
})();
