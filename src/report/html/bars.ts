import stringWidth from 'string-width';
import { bar, chartWidth, colours, type Drawing, drawEmpty, text } from './svg.ts';

export type Bar = {
  readonly name: string;
  readonly label: string;
  /** Relative to the other bars; null draws none. */
  readonly length: number | null;
};

const rowHeight = 34;
const textBaseline = 13;
const barTop = 18;
const barHeight = 10;
/** Widths at size 12 in a wide font: W, and a digit. */
const widest = 12.4;
const digit = 7.7;

/** Names stand above bars. Negative bars go to the left of zero. */
export function drawBars(bars: readonly Bar[]): Drawing {
  if (bars.length === 0) return drawEmpty();
  const lengths = bars.map(({ length }) => length ?? 0);
  const least = Math.min(0, ...lengths);
  const span = Math.max(0, ...lengths) - least;
  const toX = (length: number): number => (span === 0 ? 0 : ((length - least) / span) * chartWidth);
  const rows = bars.map(({ name, label, length }, row) => {
    const top = row * rowHeight;
    const fill = length === null ? colours.quiet : colours.ink;
    const words =
      text(0, top + textBaseline, shorten(name, availableColumns(label)), { fill }) +
      text(chartWidth, top + textBaseline, label, { fill, anchor: 'end' });
    if (length === null) return words;
    const [from, to] = [toX(Math.min(0, length)), toX(Math.max(0, length))];
    return (
      bar({ x: 0, y: top + barTop, width: chartWidth, height: barHeight }, colours.track) +
      bar({ x: from, y: top + barTop, width: to - from, height: barHeight }, colours.bar) +
      words
    );
  });
  return { height: bars.length * rowHeight, marks: rows.join('\n') };
}

/** Room for a name beside its label, if all its letters were capitals. */
function availableColumns(label: string): number {
  return Math.max(8, Math.floor((chartWidth - (label.length + 2) * digit) / widest));
}

/** Cuts at whole characters. */
function shorten(name: string, maxWidth: number): string {
  if (stringWidth(name) <= maxWidth) return name;
  let text = '';
  let width = 1;
  for (const { segment } of new Intl.Segmenter('en').segment(name)) {
    width += stringWidth(segment);
    if (width > maxWidth) break;
    text += segment;
  }
  return `${text}…`;
}
