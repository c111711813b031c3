import { escapeHtml } from '../../domain/html.ts';
import type { RenderedFile, RenderedMessage } from '../../domain/rendered-message.ts';
import { type Html, html, type Part } from './html.ts';
import { factList, formatFileSize, showText, showTextOr } from './preview-text.ts';

/** A mail client with the HTML in a frame of its own, and the plain text below. */
export function emailPart({ destination, fields, files }: RenderedMessage): Html {
  const { MessageHTML: source = '', MessagePlain: plain = '', Template: template = '' } = fields;
  const both = source !== '' && plain !== '';
  return html`<div class="mail">
${factList([
  ['From', senderPart(fields['From'] ?? '', fields['FromEmail'] ?? '')],
  ['Reply-To', showTextOr(fields['ReplyTo'], '')],
  ['To', showText(destination.Recipient)],
  ['Cc', showTextOr(fields['CCEmail'], '')],
  ['Bounces to', showTextOr(fields['SMTPFrom'], '')],
  ['Subject', html`<strong>${showTextOr(fields['EmailSubject'], 'no subject')}</strong>`],
])}${attachmentList(files)}${source !== '' && framePart(source)}${
  plain !== '' &&
  html`<details${!both && html` open`}>
<summary>${both ? 'Plain text, for readers that show no HTML' : 'Plain text'}</summary>
<div class="plain" dir="auto" tabindex="0">${showText(plain)}</div>
</details>
`
}${
  source === '' &&
  plain === '' &&
  template !== '' &&
  html`<p class="note">The body is the template ${showText(template)} of the service. Volley does not have it.</p>
`
}</div>
`;
}

function senderPart(name: string, address: string): Part {
  if (address === '')
    return name === '' ? 'the sender of the account' : html`${showText(name)} (address of the account)`;
  return name === '' ? showText(address) : html`${showText(name)} &lt;${showText(address)}&gt;`;
}

function attachmentList(files: readonly RenderedFile[]): Html | undefined {
  if (files.length === 0) return undefined;
  const items = files.map(
    (file) => html`<li dir="auto">${file.name} <small>${formatFileSize(file)}</small></li>`,
  );
  return html`<div class="files"><span>Attachments</span><ul>${items}</ul></div>
`;
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
function framePart(message: string): Html {
  const own = withoutConnecting(message.slice(0, maxShown).toWellFormed());
  const source = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${framePolicy}"><meta http-equiv="x-dns-prefetch-control" content="off"><style>${frameStyle}</style>${own}`;
  const cut =
    message.length > maxShown && ` Only the first ${maxShown.toLocaleString('en')} characters are shown.`;
  // Not shown as text: its control characters are the message's own.
  const attribute: Html = { kind: 'html', text: escapeHtml(source) };
  return html`<iframe sandbox loading="lazy" title="The HTML of the message" srcdoc="${attribute}"></iframe>
<p class="note">Remote images and styles are not loaded here.${cut}</p>
`;
}

/** A space stays where a tag was, so that what is around it forms no other one. The text is read once. */
function withoutConnecting(message: string): string {
  let kept = '';
  let from = 0;
  for (const { index } of message.matchAll(connecting)) {
    // Inside of a tag that is left out.
    if (index < from) continue;
    kept += `${message.slice(from, index)} `;
    const end = message.indexOf('>', index);
    // A browser drops a tag without an end too.
    if (end < 0) return kept;
    from = end + 1;
  }
  return kept + message.slice(from);
}
