// A page works without this script. It keeps what the person opened, and says when Volley does not answer.

/**
 * Says the zone of this browser once, with a cookie that Volley reads. The sign-in page says it before any page has
 * times; a page that was opened without one, such as by a link, is loaded again.
 */
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (ownZone && !/(?:^|; )volley_own_zone=/.test(document.cookie)) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing without TLS.
  document.cookie = `volley_own_zone=${encodeURIComponent(ownZone)}; path=/; max-age=31536000; samesite=strict`;
  const isSaid = document.cookie.includes('volley_own_zone=');
  if (isSaid && document.documentElement.dataset.zone === 'unknown' && !document.getElementById('problems'))
    location.reload();
}

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

/** What the page showed is complete, and another page has its place. */
document.addEventListener('htmx:after:swap', () => {
  if (document.querySelector('#live [data-load-again]')) location.reload();
});

const showLost = (isLost) => {
  const banner = document.getElementById('lost');
  if (banner) banner.hidden = !isLost;
};
document.addEventListener('htmx:sse:error', () => showLost(true));

/** The extension ends the stream of a tab when it is hidden, but not of one that was hidden from the start. */
const restWhenHidden = () => {
  if (document.hidden) document.dispatchEvent(new Event('visibilitychange'));
};

/** A browser may not notice that its connection is lost, such as after a sleep. Volley sends a sign every 15 seconds. */
const longestSilence = 45_000;
let stream;
let heardAt;
const hear = ({ detail }) => {
  stream = detail.connection;
  heardAt = Date.now();
};
document.addEventListener('htmx:sse:after:connection', (event) => {
  hear(event);
  showLost(false);
  // The stream is read from the next moment on.
  setTimeout(restWhenHidden);
});
document.addEventListener('htmx:sse:after:message', hear);
document.addEventListener('htmx:sse:close', () => {
  stream = undefined;
});
document.addEventListener('visibilitychange', () => {
  heardAt = Date.now();
});
setInterval(() => {
  if (document.hidden || stream === undefined || Date.now() - heardAt < longestSilence) return;
  heardAt = Date.now();
  showLost(true);
  stream.reader?.cancel();
}, 5_000);

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
  else if (event.target.method === 'post') {
    event.target.dataset.sent = 'true';
    // The person may have stopped it.
    setTimeout(() => delete event.target.dataset.sent, 10_000);
  }
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

/** The secret of a link to a token stands after its #. It stays neither in the address nor in the history. */
const openLink = () => {
  const link = document.getElementById('link');
  if (!link || !/^#[0-9a-f]{64}$/.test(location.hash)) return;
  link.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  link.form.requestSubmit();
};
openLink();
addEventListener('hashchange', openLink);

document.getElementById('problems')?.focus();
