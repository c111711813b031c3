import stringWidth from 'string-width';
import { chartWidth, colours, draw, drawNothing, ink, unpadded } from './draw.ts';

/** A bar with its name and its figure above it. */
export type Bar = {
  readonly name: string;
  /** The figure in words, as long as it likes. */
  readonly label: string;
  /** How long the bar is, beside the others; null where there is none to draw. */
  readonly length: number | null;
};

const rowHeight = 34;
const barTop = 18;
const barHeight = 10;
/** In letters of 12: a capital W, which is the widest, and a digit. */
const widest = 11.5;
const digit = 7.2;

/**
 * Bars one under the other. Names stand above, so that the longest has room; what is below zero goes to the left of where
 * nothing is.
 */
export function drawBars(bars: readonly Bar[]): Promise<string> {
  if (bars.length === 0) return drawNothing();
  const values = bars.map(({ name, label, length }, row) => {
    return {
      row,
      name: shortened(name, room(label)),
      label,
      length,
      ink: length === null ? colours.quiet : ink,
    };
  });
  const lengths = bars.map(({ length }) => length ?? 0);
  const drawn = { data: 'values' };
  const y = (offset: number) => ({ scale: 'row', field: 'row', offset });
  return draw(bars.length * rowHeight, unpadded, {
    data: [
      { name: 'values', values },
      { name: 'bars', source: 'values', transform: [{ type: 'filter', expr: 'datum.length !== null' }] },
    ],
    scales: [
      { name: 'row', type: 'linear', domain: [0, bars.length], range: 'height', reverse: true },
      {
        name: 'length',
        type: 'linear',
        domain: [Math.min(0, ...lengths), Math.max(0, ...lengths, Number.MIN_VALUE)],
        range: [0, chartWidth],
      },
    ],
    marks: [
      {
        type: 'rect',
        aria: false,
        from: { data: 'bars' },
        encode: {
          enter: {
            x: { value: 0 },
            x2: { value: chartWidth },
            y: y(barTop),
            height: { value: barHeight },
            fill: { value: colours.track },
          },
        },
      },
      {
        type: 'rect',
        aria: false,
        from: { data: 'bars' },
        encode: {
          enter: {
            x: { scale: 'length', value: 0 },
            x2: { scale: 'length', field: 'length' },
            y: y(barTop),
            height: { value: barHeight },
            fill: { value: colours.bar },
          },
        },
      },
      {
        type: 'text',
        aria: false,
        from: drawn,
        encode: { enter: { x: { value: 0 }, y: y(13), text: { field: 'name' }, fill: { field: 'ink' } } },
      },
      {
        type: 'text',
        aria: false,
        from: drawn,
        encode: {
          enter: {
            x: { value: chartWidth },
            align: { value: 'right' },
            y: y(13),
            text: { field: 'label' },
            fill: { field: 'ink' },
          },
        },
      },
    ],
  });
}

/** Columns of text that there are for a name beside its figure, were they all capital letters. */
function room(label: string): number {
  return Math.max(8, Math.floor((chartWidth - (label.length + 2) * digit) / widest));
}

/** By whole characters, as wide as they are. */
function shortened(name: string, longest: number): string {
  if (stringWidth(name) <= longest) return name;
  let text = '';
  let width = 1;
  for (const { segment } of new Intl.Segmenter('en').segment(name)) {
    width += stringWidth(segment);
    if (width > longest) break;
    text += segment;
  }
  return `${text}…`;
}
