import type { AttemptVerdict } from '../../domain/runs.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { chartFigure } from '../../report/html/chart-figure.ts';
import { createTimeChart } from '../../report/html/charts.ts';
import { type Html, html } from '../../report/html/html.ts';
import { attemptEndColumns } from '../../report/lists/run-results.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, number } from '../parts/parts.ts';
import { pointsOf, resultsOf } from './answer-points.ts';

/** When the service answered, what, and how fast. */
export function answersPart({ answers }: LiveRun, viewer: Viewer): Html | undefined {
  const { ended, latency } = answers;
  if (ended.length === 0) return undefined;
  const { unit, series } = pointsOf(ended, viewer.zone);
  const milliseconds = (value: number | null): string => (value === null ? '–' : `${number(value)} ms`);
  const charts = series.map(({ verdict, points }) =>
    createTimeChart(`${capitalised(verdict)} by ${unit} (${viewer.zone})`, unit, points),
  );
  return html`<section aria-labelledby="answers-title" id="answers">
<h2 id="answers-title">Answers of the service</h2>
${figures([
  { name: 'Answered', value: number(latency.answered) },
  { name: 'Half within', value: milliseconds(latency.median) },
  { name: '95 % within', value: milliseconds(latency.p95) },
  { name: '99 % within', value: milliseconds(latency.p99) },
])}
<div class="charts">${charts.map((drawn, index) => chartFigure(drawn, `answers-${index}`))}</div>
${listTable({ caption: 'How attempts ended', columns: attemptEndColumns, rows: resultsOf(ended) }, viewer)}
</section>`;
}

function capitalised(verdict: AttemptVerdict): string {
  const words = verdict.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
