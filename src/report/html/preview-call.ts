import type { RenderedFile, RenderedMessage } from '../../domain/rendered-message.ts';
import { formatBytes, formatFacts, showText } from './preview-text.ts';
import { escapeText } from './text.ts';

type Step = { readonly when: string; readonly html: string };

/** The script of a call, in the order in which the recipient hears it. */
export function formatCall(message: RenderedMessage): string {
  const { destination, fields, keypads, channel } = message;
  const caller = fields['CallerID'] ?? '';
  const spoken = (field: string, when: string): Step[] => {
    const html = formatSpoken(message, field);
    return html === '' ? [] : [{ when, html }];
  };
  const keys = keypads.map(({ Tone, RouteNumber }) => {
    return `<li>Key <kbd>${escapeText(Tone)}</kbd> connects to <b>${escapeText(RouteNumber)}</b></li>`;
  });
  const steps: readonly Step[] = [
    {
      when: 'The phone rings',
      html: `<p>${showText(destination.Recipient)} sees ${caller === '' ? 'the caller id of the account' : `<b>${showText(caller)}</b>`}.</p>`,
    },
    ...spoken('MessageToPeople', 'A person answers'),
    ...(keys.length === 0
      ? []
      : [{ when: 'The person can press', html: `<ul class="keys">${keys.join('')}</ul>` }]),
    ...spoken('CallRouteMessageToPeople', 'After the key, to the person'),
    ...spoken('CallRouteMessageToOperators', 'After the key, to the operator'),
    ...spoken('CallRouteMessageOnWrongKey', 'After any other key'),
    ...spoken('MessageToAnswerphones', 'An answering machine answers'),
  ];
  return `<ol class="call">
${steps.map(({ when, html }) => `<li><h3>${when}</h3>${html}</li>\n`).join('')}</ol>
${formatFacts([
  ['Voice', channel === 'tts' ? showText(fields['Voice'] ?? '') || 'the default of the service' : ''],
  ['Operators', showText(fields['NumberOfOperators'] ?? '')],
])}`;
}

function formatSpoken({ fields, audio }: RenderedMessage, field: string): string {
  const recording = audio[field];
  if (recording)
    return `<p class="recording" dir="auto">${escapeText(recording.name)} <small>${formatDuration(recording)}</small></p>`;
  const text = fields[field] ?? '';
  return text === '' ? '' : `<blockquote dir="auto" tabindex="0">${markNumbers(text)}</blockquote>`;
}

/** Numbers stand out, because how the voice reads them is up to the service. */
function markNumbers(text: string): string {
  return text
    .split(/(\d(?:[\d.,:/ -]*\d)?)/)
    .map((piece, index) =>
      index % 2 === 1
        ? `<span class="number" title="read out as the voice of the service reads numbers">${showText(piece)}</span>`
        : showText(piece),
    )
    .join('');
}

function formatDuration({ bytes, seconds }: RenderedFile): string {
  if (seconds === null) return formatBytes(bytes);
  return `${seconds === 1 ? '1 second' : `${seconds} seconds`}, ${formatBytes(bytes)}`;
}
