import { escapeHtml } from '../../domain/html.ts';
import type { RenderedMessage } from '../../domain/rendered-message.ts';
import { formatFiles } from './preview-files.ts';
import { formatFacts, showText } from './preview-text.ts';

/** A mail client with the HTML in a frame of its own, and the plain text below. */
export function formatEmail({ destination, fields, files }: RenderedMessage): string {
  const { MessageHTML: html = '', MessagePlain: plain = '', Template: template = '' } = fields;
  const both = html !== '' && plain !== '';
  return `<div class="mail">
${formatFacts([
  ['From', formatSender(fields['From'] ?? '', fields['FromEmail'] ?? '')],
  ['Reply-To', showText(fields['ReplyTo'] ?? '')],
  ['To', showText(destination.Recipient)],
  ['Cc', showText(fields['CCEmail'] ?? '')],
  ['Bounces to', showText(fields['SMTPFrom'] ?? '')],
  ['Subject', `<strong>${showText(fields['EmailSubject'] ?? '') || 'no subject'}</strong>`],
])}${formatFiles(files, 'Attachments')}${html === '' ? '' : formatFrame(html)}${
  plain === ''
    ? ''
    : `<details${both ? '' : ' open'}>
<summary>${both ? 'Plain text, for readers that show no HTML' : 'Plain text'}</summary>
<div class="plain" dir="auto" tabindex="0">${showText(plain)}</div>
</details>
`
}${
  html === '' && plain === '' && template !== ''
    ? `<p class="note">The body is the template ${showText(template)} of the service. Volley does not have it.</p>\n`
    : ''
}</div>
`;
}

function formatSender(name: string, address: string): string {
  if (address === '')
    return name === '' ? 'the sender of the account' : `${showText(name)} (address of the account)`;
  return name === '' ? showText(address) : `${showText(name)} &lt;${showText(address)}&gt;`;
}

/** What a message may load, beside the policy of the page, which its frame inherits. */
const framePolicy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;

/** What a mail client shows of an image that is not loaded, and the ground it shows letters on. */
const frameStyle =
  'body{margin:16px;font:16px/1.4 Arial,Helvetica,sans-serif;color:#000;background:#fff;overflow-wrap:anywhere}img{max-width:100%}';

/** Tags of elements that would connect to a server although the policy forbids to load anything: their beginnings. */
const connecting = /<\/?(?:link|base|meta|object|embed|iframe|frame|frameset)\b/gi;

/** Characters of HTML that a page shows of a message. */
const maxShown = 1_000_000;

/** No script, form, pop-up, navigation or remote content: the frame has no rights, and the policy allows no address. */
function formatFrame(html: string): string {
  const own = withoutConnecting(html.slice(0, maxShown).toWellFormed());
  const source = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${framePolicy}"><meta http-equiv="x-dns-prefetch-control" content="off"><style>${frameStyle}</style>${own}`;
  return `<iframe sandbox loading="lazy" title="The HTML of the message" srcdoc="${escapeHtml(source)}"></iframe>
<p class="note">Remote images and styles are not loaded here.${
    html.length > maxShown ? ` Only the first ${maxShown.toLocaleString('en')} characters are shown.` : ''
  }</p>
`;
}

/** A space stays where a tag was, so that what is around it forms no other one. The text is read once. */
function withoutConnecting(html: string): string {
  let kept = '';
  let from = 0;
  for (const { index } of html.matchAll(connecting)) {
    // Inside of a tag that is left out.
    if (index < from) continue;
    kept += `${html.slice(from, index)} `;
    const end = html.indexOf('>', index);
    // A browser drops a tag without an end too.
    if (end < 0) return kept;
    from = end + 1;
  }
  return kept + html.slice(from);
}
