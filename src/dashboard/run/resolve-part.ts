import { count } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import { type Decision, decisions } from './doubts-part.ts';

export type ResolveQuestion = {
  readonly run: string;
  readonly decision: Decision;
  readonly requests: number;
  readonly recipients: number;
};

/** What a confirmation says before the decision is made. */
export function resolveText({ run, decision, requests, recipients }: ResolveQuestion): Html {
  const chosen = decisions.find((each) => each.decision === decision);
  return html`<p>${chosen?.name}: <strong>${count(requests, 'request')} with ${count(recipients, 'recipient')}</strong> of run <code>${run}</code>.</p>
<p>${chosen?.what}</p>`;
}

export function isDecision(text: string): text is Decision {
  return decisions.some(({ decision }) => decision === text);
}

/** The verb on the button that carries the decision out. */
export function buttonOf(decision: Decision): string {
  return decisions.find((each) => each.decision === decision)?.name ?? 'Go on';
}
