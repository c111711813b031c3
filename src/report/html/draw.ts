import { parse, type Spec, View } from 'vega';

/** The width of every chart; its height is as its figures need. In units of the SVG, which the page scales. */
export const chartWidth = 480;

/** Colours of the page, light or dark. */
export const ink = 'currentColor';
export const colours = {
  bar: 'var(--bar)',
  track: 'var(--track)',
  quiet: 'var(--quiet)',
  line: 'var(--line)',
} as const;

const font = 'system-ui, sans-serif';

type Drawing = Omit<Spec, 'width' | 'height' | 'padding' | 'autosize'>;
type Padding = {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
};

/**
 * Draws a chart. The bytes depend on the specification alone: nothing in it is measured by a font of this machine, and
 * nothing has an identifier.
 *
 * @param height without the padding, which is within the width
 */
export async function draw(
  height: number,
  { left, right, top, bottom }: Padding,
  spec: Drawing,
): Promise<string> {
  const view = new View(
    parse({
      width: chartWidth - left - right,
      height,
      padding: { left, right, top, bottom },
      autosize: 'none',
      background: '',
      ...spec,
      config: {
        text: { font, fontSize: 12, fill: ink },
        axis: { labelFont: font, labelFontSize: 11, labelColor: colours.quiet, gridColor: colours.line },
      },
    }),
    { renderer: 'none' },
  );
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

/** A chart of nothing. */
export function drawNothing(): Promise<string> {
  const enter = { text: { value: 'Nothing to show.' }, x: { value: 0 }, y: { value: 14 } };
  return draw(20, unpadded, { marks: [{ type: 'text', aria: false, encode: { enter } }] });
}

export const unpadded: Padding = { left: 0, right: 0, top: 0, bottom: 0 };
