import { hasEnded } from '../../domain/runs.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { recipientStateOf } from '../../ledger/counts/run-counts.ts';
import { createAmountFormat } from '../../platform/money.ts';
import { count } from '../../platform/sentence.ts';
import { shortened } from '../../report/html/cells.ts';
import { groupThousands, share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { costOf } from '../../report/lists/runs.ts';
import { wordsOf } from '../../report/lists/usual.ts';
import {
  type ContactState,
  type ContactWord,
  contactWords,
  countAccepted,
  countLeftOut,
  countOutcomes,
  deliveredShare,
  type OutcomeCount,
  statesOf,
} from '../../report/run/run-outcome.ts';
import { formatSeconds } from '../../report/time.ts';
import { type Fields, textIn, wordIn } from '../base/fields.ts';
import { type Figure, figures, nothingToSend, progressBar, section } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

/** What came of a run: one bar with its figures, how much is sent, and what it cost and took. */
export function outcomePart(live: LiveRun): Html {
  const { head, progress, rejections } = live;
  const counts = countOutcomes(progress.counts.recipients, countLeftOut(rejections));
  const sent = progress.total === 0 ? html`<p>It has no request: ${nothingToSend}.</p>` : sentPart(live);
  const body = html`${outcomeFigures(head.run, counts)}
${sent}
${figures([...deliveredFigure(live), ...costFigure(live), ...timeFigure(live)])}`;
  return section('outcome', 'What came of it', body);
}

/** The bar, and each figure as a link to its people. @param chosen which list this is */
export function outcomeFigures(run: string, counts: readonly OutcomeCount[], chosen?: ContactWord): Html {
  return html`${outcomeBar(counts)}
${figures(
  counts.map(({ outcome, count: contacts, states }) => ({
    name: html`<span class="swatch" data-outcome="${outcome.replace(' ', '-')}"></span>${outcome}`,
    value: peopleLink(run, { state: outcome, contacts }, outcome === chosen),
    note:
      states.length > 0 &&
      states.map(
        ({ state, count: each }) =>
          html`${peopleLink(run, { state, contacts: each }, state === chosen)} ${state} `,
      ),
  })),
)}`;
}

type People = {
  readonly state: ContactWord;
  readonly contacts: number;
  readonly cause?: string;
  readonly words?: string;
};

/** A figure that leads to the list of its people. */
export function peopleLink(run: string, { state, contacts, cause, words }: People, isChosen = false): Html {
  const number = groupThousands(contacts);
  const label = `${number} ${state}${words === undefined ? '' : `: ${shortened(words)}`}`;
  return html`<a href="${runPath(run, 'recipients', { state, cause })}" aria-label="${label}"${isChosen && html` aria-current="page"`}>${number}</a>`;
}

/** Units of the bar. A part of a few recipients is seen too. */
const bar = { width: 1_000, gap: 3, least: 8 } as const;

function outcomeBar(counts: readonly OutcomeCount[]): Html | undefined {
  const whole = counts.reduce((sum, each) => sum + each.count, 0);
  if (whole === 0) return undefined;
  const words = counts.map(({ outcome, count: contacts }) => `${groupThousands(contacts)} ${outcome}`);
  const room = bar.width - counts.length * (bar.least + bar.gap);
  let x = 0;
  const parts = counts.map(({ outcome, count: contacts }) => {
    const width = bar.least + (contacts / whole) * room;
    const part = html`<rect data-outcome="${outcome.replace(' ', '-')}" x="${x.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="1"/>`;
    x += width + bar.gap;
    return part;
  });
  return html`<svg class="outcome-bar" role="img" aria-label="${words.join(', ')}" viewBox="0 0 ${bar.width} 1" preserveAspectRatio="none">${parts}</svg>`;
}

function sentPart(live: LiveRun): Html {
  const { progress, perSecond, secondsLeft } = live;
  const { settled, total, state, counts } = progress;
  const inDoubt = counts.requests.in_doubt;
  const notAccepted = Math.max(0, progress.notAccepted - inDoubt);
  const speed =
    perSecond &&
    html`; ${groupThousands(Math.round(perSecond.requests))} requests a second now${secondsLeft !== null && html`, ${formatSeconds(secondsLeft)} left`}`;
  return html`${!hasEnded(state) && progressBar('Sent', settled, total)}
<p>Sent: ${groupThousands(settled)} of ${count(total, 'request')} (${share(settled, total)})${notAccepted > 0 && html`, ${groupThousands(notAccepted)} not accepted`}${inDoubt > 0 && html`, ${groupThousands(inDoubt)} in doubt`}${counts.reportedUnsent > 0 && html`; ${count(counts.reportedUnsent, 'recipient')} reported, not sent`}${speed}</p>`;
}

function deliveredFigure({ progress, former }: LiveRun): Figure[] {
  const { recipients } = progress.counts;
  const { delivered } = recipients;
  const percent = deliveredShare({ accepted: countAccepted(recipients), delivered });
  if (percent === null) return [];
  const before = deliveredShare(former);
  const note = `of what was accepted${before === null ? '' : `; ${before} % in the ${former.runs === 1 ? 'run' : `${former.runs} runs`} before`}`;
  return [{ name: 'Delivered', value: `${percent} %`, note }];
}

function costFigure({ costs: { total, currency } }: LiveRun): Figure[] {
  if (total.recipients === 0) return [];
  const name = 'Cost so far';
  if (currency === null)
    return [
      { name, value: groupThousands(total.price), note: 'in delivery reports; the account has no rate card' },
    ];
  const cost = costOf({ figures: { cost: total, currency } }) ?? '0';
  const format = createAmountFormat([cost, total.estimated]);
  const unrated = total.unrated > 0 ? `, without ${count(total.unrated, 'recipient')} that have no rate` : '';
  const estimated = `${groupThousands(format(total.estimated))} estimated, without tax${unrated}`;
  const note = cost === total.price ? `in delivery reports; ${estimated}` : estimated;
  return [{ name, value: `${groupThousands(format(cost))} ${currency}`, note }];
}

function timeFigure({ head: { finishedAt }, events }: LiveRun): Figure[] {
  const begun = events.states.find(({ state }) => state === 'running')?.at;
  if (!begun || !finishedAt) return [];
  return [{ name: 'Took', value: formatSeconds((finishedAt.getTime() - begun.getTime()) / 1_000) }];
}

/** Which contacts of a run a list is about. An unknown state asks for all recipients; `cause` is that of a `Cause`. */
export function readAskedContacts(query: Fields) {
  const state = wordIn(query, 'state', contactWords);
  const cause = state && (textIn(query, 'cause') || undefined);
  return { state, cause, states: statesOf(state) };
}

/** Contacts of a run in the same state with the same words. */
export type Cause = {
  readonly state: ContactState;
  /** A digest of the words, or the column that is the cause; empty for other words together, which have no list. */
  readonly cause: string;
  readonly words: string;
  readonly contacts: number;
};

type Groups = Pick<LiveRun, 'results' | 'failures' | 'rejections'>;

/** Lists the largest first. */
export function listCauses({ results, failures, rejections }: Groups): Cause[] {
  const causes: Cause[] = [
    ...results.map(({ outcome, group, result, recipients }) => {
      return { state: outcome, cause: group, words: wordsOf(result), contacts: recipients };
    }),
    ...failures.map(({ state, group, reason, recipients }) => {
      return { state: recipientStateOf[state], cause: group, words: wordsOf(reason), contacts: recipients };
    }),
    ...rejections.map(({ reason, column, contacts }) => {
      return { state: reason, cause: column, words: `column ${column}`, contacts };
    }),
  ];
  return causes
    .filter(({ contacts }) => contacts > 0)
    .toSorted((one, other) => other.contacts - one.contacts);
}
