import { escapeText } from './html.ts';

/** The width of every chart, in units of the SVG, which the page scales. */
export const chartWidth = 400;

/** The colours of charts, which the style of the page decides. */
export const colours = {
  ink: 'currentColor',
  bar: 'var(--bar)',
  track: 'var(--track)',
  quiet: 'var(--quiet)',
  line: 'var(--line)',
} as const;

type Colour = (typeof colours)[keyof typeof colours];

export type Drawing = { readonly height: number; readonly marks: string };

type Rectangle = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

export function bar({ x, y, width, height }: Rectangle, fill: Colour): string {
  return `<rect x="${formatCoordinate(x)}" y="${formatCoordinate(y)}" width="${formatCoordinate(width)}" height="${formatCoordinate(height)}" fill="${fill}"/>`;
}

export function line(x1: number, x2: number, y: number, stroke: Colour): string {
  return `<path d="M${formatCoordinate(x1)},${formatCoordinate(y)}H${formatCoordinate(x2)}" stroke="${stroke}"/>`;
}

/** A text. The page's style sets the direction of each script. */
export function text(x: number, y: number, words: string, style: TextStyle = {}): string {
  const { fill = colours.ink, size = 12, anchor = 'start' } = style;
  return `<text x="${formatCoordinate(x)}" y="${formatCoordinate(y)}" fill="${fill}" font-size="${size}" text-anchor="${anchor}">${escapeText(words)}</text>`;
}

type TextStyle = {
  readonly fill?: Colour;
  readonly size?: number;
  readonly anchor?: 'start' | 'middle' | 'end';
};

export function drawEmpty(): Drawing {
  return { height: 20, marks: text(0, 14, 'Nothing to show.') };
}

/** Two decimals keep files small. */
function formatCoordinate(value: number): string {
  return String(Math.round(value * 100) / 100);
}
