import type { Channel } from '../../domain/message.ts';
import type { FilledPlaceholder, RenderedMessage } from '../../domain/rendered-message.ts';
import { formatCall } from './preview-call.ts';
import { formatEmail } from './preview-email.ts';
import { formatFax } from './preview-fax.ts';
import { formatSms } from './preview-sms.ts';
import { formatFacts, showText } from './preview-text.ts';
import { escapeText } from './text.ts';

/** What a page may load that shows messages: styles and inline images of e-mails are the campaign's own. */
export const previewPolicy = `style-src 'unsafe-inline'; img-src data:`;

/** A message as its reader sees it, beside what is billed and where its values come from. Needs `previewStyle`. */
export function formatMessage(message: RenderedMessage): string {
  const { channel, destination, fields, placeholders } = message;
  const { Recipient, ...carried } = destination;
  const shown = shownFields[channel];
  const others = Object.entries(fields).filter(([name]) => !shown.includes(name));
  return `<div class="message">
<div class="reader">
${formatForReader(message)}</div>
<div class="about">
${formatFacts([
  ['To', showText(Recipient)],
  ...Object.entries(carried).map(([name, value]) => [name, showText(value ?? '')] as const),
  ...others.map(([name, value]) => [name, showText(value)] as const),
])}${formatPlaceholders(placeholders)}</div>
</div>
`;
}

function formatForReader(message: RenderedMessage): string {
  switch (message.channel) {
    case 'sms':
      return formatSms(message);
    case 'email':
      return formatEmail(message);
    case 'fax':
      return formatFax(message);
    case 'voice':
    case 'tts':
      return formatCall(message);
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

function formatPlaceholders(placeholders: readonly FilledPlaceholder[] | null): string {
  if (placeholders === null) return '';
  if (placeholders.length === 0)
    return '<p class="note">No placeholders: all recipients get this message.</p>\n';
  const rows = placeholders.map((each) => {
    const value = each.value === null ? '' : showText(each.value) || '<em>empty</em>';
    return `<tr><th scope="row" dir="auto">${escapeText(each.placeholder)}<small>${escapeText(each.place)}</small></th><td><div dir="auto">${value}</div></td><td>${fillerOf(each)}</td></tr>\n`;
  });
  return `<div class="placeholders" tabindex="0"><table>
<caption>Placeholders</caption>
<thead><tr><th scope="col">Placeholder</th><th scope="col">Value</th><th scope="col">Filled by</th></tr></thead>
<tbody>
${rows.join('')}</tbody>
</table></div>
`;
}

function fillerOf({ source, mergedFrom }: FilledPlaceholder): string {
  if (source === 'service') return 'the service, when it sends';
  const filler = mergedFrom === null ? 'Volley' : `the service, from ${escapeText(mergedFrom)}`;
  return source === 'fallback' ? `${filler}, with the fallback` : filler;
}
