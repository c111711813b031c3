import stringWidth from 'string-width';
import { bar, chartWidth, colours, type Drawing, drawEmpty, text } from './svg.ts';

/** A bar with its name and its figure above it. */
export type Bar = {
  readonly name: string;
  /** The figure in words, as long as it likes. */
  readonly label: string;
  /** How long the bar is, beside the others; null where there is none to draw. */
  readonly length: number | null;
};

const rowHeight = 34;
const textBaseline = 13;
const barTop = 18;
const barHeight = 10;
/** In letters of 12 of a wide font: a capital W, which is the widest, and a digit. */
const widest = 12.4;
const digit = 7.7;

/**
 * Bars one under the other. Names stand above, so that the longest has room; what is below zero goes to the left of where
 * nothing is.
 */
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
      bar(0, top + barTop, chartWidth, barHeight, colours.track) +
      bar(from, top + barTop, to - from, barHeight, colours.bar) +
      words
    );
  });
  return { height: bars.length * rowHeight, marks: rows.join('\n') };
}

/** Columns of text that there are for a name beside its figure, were they all capital letters. */
function availableColumns(label: string): number {
  return Math.max(8, Math.floor((chartWidth - (label.length + 2) * digit) / widest));
}

/** By whole characters, as wide as they are. */
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
