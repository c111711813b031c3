// A page works without this script. It keeps what the person opened, and says when Volley does not answer.

/** A new part arrives closed; what was open stays open. */
document.addEventListener('htmx:before:swap', () => {
  const open = [...document.querySelectorAll('#live details[open][id]')].map(({ id }) => id);
  if (open.length === 0) return;
  document.addEventListener(
    'htmx:after:swap',
    () => {
      for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    },
    { once: true },
  );
});

const showLost = (isLost) => {
  const banner = document.getElementById('lost');
  if (banner) banner.hidden = !isLost;
};
document.addEventListener('htmx:sse:error', () => showLost(true));
document.addEventListener('htmx:sse:after:connection', () => showLost(false));

/** A stream that was open is tried again by its extension; the first connection is tried again here. */
const connectAgain = ({ target, detail }) => {
  if (!detail.ctx) return;
  showLost(true);
  setTimeout(() => htmx.ajax('GET', target.getAttribute('hx-sse:connect'), { source: target }), 3_000);
};
document.addEventListener('htmx:error', connectAgain);
document.addEventListener('htmx:response:error', connectAgain);

// A form that is sent twice in a row is sent once.
document.addEventListener('submit', (event) => {
  if (event.target.dataset.sent === 'true') event.preventDefault();
  else if (event.target.method === 'post') event.target.dataset.sent = 'true';
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

document.getElementById('problems')?.focus();
