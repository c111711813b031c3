import type { RenderedFile, RenderedMessage } from '../../domain/rendered-message.ts';
import { count } from '../../platform/sentence.ts';
import { type Html, html } from './html.ts';
import { factList, formatBytes, showText, showTextOr } from './preview-text.ts';

type Step = readonly [when: string, what: Html | undefined];

/** The script of a call, in the order in which the recipient hears it. */
export function callPart(message: RenderedMessage): Html {
  const { destination, fields, keypads, channel } = message;
  const caller = fields['CallerID'] ?? '';
  const number = caller === '' ? 'the caller id of the account' : html`<b>${showText(caller)}</b>`;
  const keys = keypads.map(
    ({ Tone, RouteNumber }) => html`<li>Key <kbd>${Tone}</kbd> connects to <b>${RouteNumber}</b></li>`,
  );
  const steps: readonly Step[] = [
    ['The phone rings', html`<p>${showText(destination.Recipient)} sees ${number}.</p>`],
    ['A person answers', spokenPart(message, 'MessageToPeople')],
    ['The person can press', keys.length > 0 ? html`<ul class="keys">${keys}</ul>` : undefined],
    ['After the key, to the person', spokenPart(message, 'CallRouteMessageToPeople')],
    ['After the key, to the operator', spokenPart(message, 'CallRouteMessageToOperators')],
    ['After any other key', spokenPart(message, 'CallRouteMessageOnWrongKey')],
    ['An answering machine answers', spokenPart(message, 'MessageToAnswerphones')],
  ];
  const items = steps.map(
    ([when, what]) =>
      what &&
      html`<li><h3>${when}</h3>${what}</li>
`,
  );
  return html`<ol class="call">
${items}</ol>
${factList([
  ['Voice', channel === 'tts' ? showTextOr(fields['Voice'], 'the default of the service') : ''],
  ['Operators', showTextOr(fields['NumberOfOperators'], '')],
])}`;
}

function spokenPart({ fields, audio }: RenderedMessage, field: string): Html | undefined {
  const recording = audio[field];
  if (recording)
    return html`<p class="recording" dir="auto">${recording.name} <small>${formatDuration(recording)}</small></p>`;
  const text = fields[field] ?? '';
  return text === ''
    ? undefined
    : html`<blockquote dir="auto" tabindex="0">${markNumbers(text)}</blockquote>`;
}

/** Numbers stand out, because how the voice reads them is up to the service. */
function markNumbers(text: string): readonly Html[] {
  return text
    .split(/(\d(?:[\d.,:/ -]*\d)?)/)
    .map((piece, index) =>
      index % 2 === 1
        ? html`<span class="number" title="read out as the voice of the service reads numbers">${showText(piece)}</span>`
        : showText(piece),
    );
}

function formatDuration({ bytes, seconds }: RenderedFile): string {
  return seconds === null ? formatBytes(bytes) : `${count(seconds, 'second')}, ${formatBytes(bytes)}`;
}
