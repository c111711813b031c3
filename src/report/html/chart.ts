/** A picture of figures, for the HTML report. */
export type Chart = {
  readonly title: string;
  /** What it shows, in a sentence, for who does not see it. */
  readonly description: string;
  /** An SVG element, without title, identifiers and scripts; its colours are `currentColor` and the page's own. */
  readonly svg: string;
};
