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

/** Elements that would connect to a server although the policy forbids to load anything. */
const connecting = /<\/?(?:link|base|meta|object|embed|iframe|frame|frameset)\b[^>]*>/gi;

/** No script, form, pop-up, navigation or remote content: the frame has no rights, and the policy allows no address. */
function formatFrame(html: string): string {
  const own = withoutConnecting(html.toWellFormed());
  const source = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${framePolicy}"><meta http-equiv="x-dns-prefetch-control" content="off"><style>${frameStyle}</style>${own}`;
  return `<iframe sandbox loading="lazy" title="The HTML of the message" srcdoc="${escapeHtml(source)}"></iframe>
<p class="note">Remote images and styles are not loaded here.</p>
`;
}

/** Again and again, because what remains around an element may form another. */
function withoutConnecting(html: string): string {
  const shorter = html.replace(connecting, '');
  return shorter === html ? html : withoutConnecting(shorter);
}
