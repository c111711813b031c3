import type { Channel } from '../../domain/message.ts';
import type { FilledPlaceholder, RenderedMessage, RenderedRow } from '../../domain/rendered-message.ts';
import { type Html, html } from './html.ts';
import { callPart } from './preview-call.ts';
import { emailPart } from './preview-email.ts';
import { faxPart } from './preview-fax.ts';
import { smsPart } from './preview-sms.ts';
import { factList, showText, showTextOr } from './preview-text.ts';

/** The message of a row, or why it has none. */
export function rowContent(row: RenderedRow): Html {
  if (row.kind === 'message')
    return html`${row.variant !== null && html`<p class="note">Variant ${row.variant}</p>`}${messagePart(row.message)}`;
  return html`<p class="note">No message: ${row.reason}${row.column !== '' && `, column ${row.column}`}: ${showText(row.detail)}.</p>
`;
}

/** A message as its reader sees it, beside what is billed and where its values come from. Needs `previewStyle`. */
export function messagePart(message: RenderedMessage): Html {
  const { channel, destination, fields, placeholders } = message;
  const { Recipient, ...carried } = destination;
  const shown = shownFields[channel];
  const others = Object.entries(fields).filter(([name]) => !shown.includes(name));
  return html`<div class="message">
<div class="reader">
${readerPart(message)}</div>
<div class="about">
${factList([
  ['To', showText(Recipient)],
  ...[...Object.entries(carried), ...others].map(([name, value]) => [name, showTextOr(value, '')] as const),
])}${placeholders && placeholderTable(placeholders)}</div>
</div>
`;
}

function readerPart(message: RenderedMessage): Html | undefined {
  switch (message.channel) {
    case 'sms':
      return smsPart(message);
    case 'email':
      return emailPart(message);
    case 'fax':
      return faxPart(message);
    case 'voice':
    case 'tts':
      return callPart(message);
  }
}

const callFields = [
  'MessageToPeople',
  'MessageToAnswerphones',
  'CallRouteMessageToPeople',
  'CallRouteMessageToOperators',
  'CallRouteMessageOnWrongKey',
  'CallerID',
  'Voice',
  'NumberOfOperators',
];

/** Fields that stand in the reader's view, and not beside it. */
const shownFields: Readonly<Record<Channel, readonly string[]>> = {
  sms: ['Message', 'FromNumber'],
  email: [
    'From',
    'FromEmail',
    'ReplyTo',
    'CCEmail',
    'SMTPFrom',
    'EmailSubject',
    'MessageHTML',
    'MessagePlain',
  ],
  fax: ['Message', 'CSID', 'Resolution'],
  voice: callFields,
  tts: callFields,
};

function placeholderTable(placeholders: readonly FilledPlaceholder[]): Html {
  if (placeholders.length === 0)
    return html`<p class="note">No placeholders: all recipients get this message.</p>
`;
  const rows = placeholders.map((each) => {
    const value = each.value === null ? '' : showTextOr(each.value, html`<em>empty</em>`);
    return html`<tr><th scope="row" dir="auto">${each.placeholder}<small>${each.place}</small></th><td><div dir="auto">${value}</div></td><td>${fillerOf(each)}</td></tr>
`;
  });
  return html`<div class="placeholders" tabindex="0"><table>
<caption>Placeholders</caption>
<thead><tr><th scope="col">Placeholder</th><th scope="col">Value</th><th scope="col">Filled by</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`;
}

function fillerOf({ source, mergedFrom }: FilledPlaceholder): string {
  if (source === 'service') return 'the service, when it sends';
  const filler = mergedFrom === null ? 'Volley' : `the service, from ${mergedFrom}`;
  return source === 'fallback' ? `${filler}, with the fallback` : filler;
}
