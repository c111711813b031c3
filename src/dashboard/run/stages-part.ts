import type { LiveRun } from '../../engine/live/live-runs.ts';
import { count } from '../../platform/sentence.ts';
import { share } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { number } from '../parts/parts.ts';

type Stage = {
  readonly name: string;
  readonly part: number;
  readonly whole: number;
  readonly text: Part;
};

/** From contacts to delivery reports, each with what is done of it. */
export function stagesPart(live: LiveRun): Html {
  return html`<section aria-labelledby="stages-title" id="stages">
<h2 id="stages-title">Progress</h2>
<ol class="stages">${stagesOf(live).map(stageItem)}</ol>
</section>`;
}

function stageItem({ name, part, whole, text }: Stage): Html {
  return html`<li><h3>${name}</h3>
<progress max="${Math.max(1, whole)}" value="${Math.min(part, Math.max(1, whole))}" aria-label="${name}">${share(part, whole)}</progress>
<p>${text}</p></li>
`;
}

function stagesOf(live: LiveRun): Stage[] {
  const { progress, rejections } = live;
  const { settled, total, counts } = progress;
  const { recipients, requests, reportedUnsent } = counts;
  const inDoubt = requests.in_doubt;
  const notAccepted = Math.max(0, progress.notAccepted - inDoubt);
  const leftOut = rejections.reduce((sum, { contacts }) => sum + contacts, 0);
  const accepted = recipients.accepted + recipients.delivered + recipients.undelivered;
  const reported = recipients.delivered + recipients.undelivered;
  return [
    {
      name: 'Planned',
      part: total,
      whole: total,
      text: html`${count(total, 'request')}${leftOut > 0 && html`; ${count(leftOut, 'contact')} left out`}`,
    },
    {
      name: 'Sent',
      part: settled,
      whole: total,
      text: html`${number(settled)} of ${count(total, 'request')} (${share(settled, total)})${notAccepted > 0 && html`, ${number(notAccepted)} not accepted`}${inDoubt > 0 && html`, ${number(inDoubt)} in doubt`}${speed(live)}`,
    },
    {
      name: 'Reported',
      part: reported,
      whole: accepted,
      text: html`${number(recipients.delivered)} delivered, ${number(recipients.undelivered)} undelivered, ${number(recipients.accepted)} not reported yet${reportedUnsent > 0 && html`; ${number(reportedUnsent)} reported, not sent`}`,
    },
  ];
}

function speed({ rate, secondsLeft }: LiveRun): Html | undefined {
  if (!rate) return undefined;
  return html`; ${number(Math.round(rate.requests))} requests a second now${secondsLeft !== null && html`, ${duration(secondsLeft)} left`}`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}
