import { type GroupedRun, maxGrouped, type RunGroups } from '../../engine/live/run-groups.ts';
import { addAmounts, createAmountFormat } from '../../platform/money.ts';
import { count } from '../../platform/sentence.ts';
import { groupThousands, share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { costOf } from '../../report/lists/runs.ts';
import { formatLocal } from '../../report/time.ts';
import type { Viewer } from '../base/view.ts';
import { figures } from '../parts/parts.ts';
import { pathWith } from '../paths.ts';

/** What runs, what waits and what the last night brought: recipients sent to, the share delivered, and cost. */
export function summaryPart({ running, waiting, ofNight, night }: RunGroups, { zone }: Viewer): Html {
  const [from, until] = [night.from, night.until].map((at) => formatLocal(at, zone).slice(0, 16));
  const planned = { from: night.from.toISOString(), to: night.until.toISOString() };
  return html`<div class="summary">
${group({ id: 'now', title: 'Running now', href: pathWith('/', { state: 'running' }), runs: running })}
${group({ id: 'waits', title: 'Waiting', href: '#waiting', runs: waiting })}
${group({ id: 'night', title: 'Last night', href: pathWith('/', planned), runs: ofNight, note: `Planned ${from} to ${until} ${zone}` })}
</div>`;
}

type Group = {
  readonly id: string;
  readonly title: string;
  readonly href: string;
  readonly runs: readonly GroupedRun[];
  readonly note?: string;
};

function group({ id, title, href, runs, note }: Group): Html {
  const reached = runs.map(({ counts: { recipients } }) => recipients);
  const delivered = reached.reduce((sum, each) => sum + each.delivered, 0);
  const sent = reached.reduce((sum, each) => sum + each.accepted + each.undelivered, delivered);
  const number = `${runs.length >= maxGrouped ? 'at least ' : ''}${count(runs.length, 'run')}`;
  return html`<section aria-labelledby="summary-${id}"><h2 id="summary-${id}">${title}: ${runs.length === 0 ? 'no run' : html`<a href="${href}">${number}</a>`}</h2>
${figures([
  { name: 'Sent', value: groupThousands(sent) },
  { name: 'Delivered', value: share(delivered, sent) },
  { name: 'Cost', value: costs(runs) },
])}
${note !== undefined && html`<p class="hint">${note}</p>`}</section>`;
}

/** What the runs cost so far, in each currency. */
function costs(runs: readonly GroupedRun[]): string {
  const sums = new Map<string, string>();
  for (const { figures: ofRun } of runs) {
    const cost = costOf({ figures: ofRun });
    const { currency } = ofRun;
    if (cost !== null && currency !== null) sums.set(currency, addAmounts(sums.get(currency) ?? '0', cost));
  }
  const texts = [...sums].map(
    ([currency, sum]) => `${groupThousands(createAmountFormat([sum])(sum))} ${currency}`,
  );
  return texts.length === 0 ? '–' : texts.join(', ');
}
