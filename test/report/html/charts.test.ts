import { describe, expect, test } from 'vitest';
import { barChart, funnelChart, timeChart } from '../../../src/report/html/charts.ts';

/** The texts of a chart in their order. */
const labelsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text ?? '');

/** How wide the bars are drawn, in their order. */
const widthsOf = (svg: string, colour = 'var(--bar)'): number[] =>
  [...svg.matchAll(/<path d="M[^h]*h(-?[\d.]+)v[^"]*" fill="([^"]*)"/g)]
    .filter(([, , fill]) => fill === colour)
    .map(([, width]) => Math.round(Number(width)));

describe('a funnel', () => {
  test('has a bar a step, with its share of the first', async () => {
    const steps = [
      { name: 'Recipients', count: 2_000 },
      { name: 'Accepted', count: 1_500 },
      { name: 'Delivered', count: 500 },
    ];
    const { svg, description } = await funnelChart('Delivery', steps);
    expect(description).toBe('Recipients 2,000 (100.0 %), Accepted 1,500 (75.0 %), Delivered 500 (25.0 %)');
    expect(widthsOf(svg)).toEqual([480, 360, 120]);
  });

  test('of nobody has no shares', async () => {
    const { description } = await funnelChart('Delivery', [{ name: 'Recipients', count: 0 }]);
    expect(description).toBe('Recipients 0');
  });
});

describe('bars', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `S${index}`, value: `${index}.10` }));

  test('come by their size, digit for digit', async () => {
    const bars = [
      { name: 'small', value: '0.10000000000000000001' },
      { name: 'large', value: '12345678901234567890.5' },
      { name: 'larger', value: '12345678901234567890.6' },
    ];
    expect((await barChart('Cost', bars)).description).toBe(
      'larger 12,345,678,901,234,567,890.6, large 12,345,678,901,234,567,890.5, small 0.10000000000000000001',
    );
  });

  test('beyond fifteen are one exact sum of the others, without a bar', async () => {
    const { svg, description } = await barChart('Cost', many(20));
    expect(description).toMatch(/^S19 19\.10, .*, S5 5\.10, 5 others 10\.50$/);
    expect(widthsOf(svg)).toHaveLength(15);
  });

  test('can have more beside them that nobody has the names of', async () => {
    const { description } = await barChart('Cost', many(16), { count: 1_000, value: '2.005' });
    expect(description).toMatch(/, S1 1\.10, 1,001 others 2\.105$/);
  });

  test('are all shown where the others would be one', async () => {
    const { description } = await barChart('Cost', many(16));
    expect(description).toMatch(/S1 1\.10, S0 0\.10$/);
  });

  test('below zero go the other way', async () => {
    const { svg } = await barChart('Cost', [
      { name: 'cost', value: '3' },
      { name: 'credit', value: '-1' },
    ]);
    expect(svg.match(/<path d="M120,18h360v10h-360Z" fill="var\(--bar\)"/)).not.toBeNull();
    expect(svg.match(/<path d="M0,52h120v10h-120Z" fill="var\(--bar\)"/)).not.toBeNull();
  });

  test('of one name stay two', async () => {
    const { svg } = await barChart('Cost', [
      { name: '(none)', value: '3' },
      { name: '(none)', value: '2' },
    ]);
    expect(widthsOf(svg)).toEqual([480, 320]);
  });

  test('with long names have as much of them as there is room for, by whole characters', async () => {
    const { svg } = await barChart('Cost', [{ name: '👩‍👩‍👧'.repeat(100), value: '1.00' }]);
    expect(labelsOf(svg)[0]).toMatch(/^(👩‍👩‍👧){8,30}…$/u);
  });
});

describe('time', () => {
  test('has a bar a day, and none where nothing was sent', async () => {
    const points = [
      { at: '2026-11-01', count: 5 },
      { at: '2026-11-04', count: 10 },
    ];
    const { svg, description } = await timeChart('Sent', 'day', points);
    expect(description).toBe('15 from 2026-11-01 to 2026-11-04, by day; most in 2026-11-04: 10.');
    expect(widthsOf(svg)).toHaveLength(2);
  });

  test('adds up the hour that comes twice when the clocks go back', async () => {
    const points = ['01', '02', '02', '03'].map((hour) => ({ at: `2026-04-05T${hour}`, count: 4 }));
    const { svg, description } = await timeChart('Sent', 'hour', points);
    expect(description).toContain('most in 2026-04-05T02: 8.');
    expect(widthsOf(svg)).toHaveLength(3);
  });

  test('can have a bar a minute', async () => {
    const points = ['59', '58'].map((minute) => ({ at: `2026-11-03T23:${minute}`, count: 3 }));
    const { svg, description } = await timeChart('Sent', 'minute', points);
    expect(description).toBe(
      '6 from 2026-11-03T23:58 to 2026-11-03T23:59, by minute; most in 2026-11-03T23:58: 3.',
    );
    expect(widthsOf(svg)).toHaveLength(2);
    expect(labelsOf(svg)).toContain('23:59');
  });

  test('without any point says so', async () => {
    expect(labelsOf((await timeChart('Sent', 'day', [])).svg)).toEqual(['Nothing to show.']);
  });
});

test('the same figures are drawn with the same bytes, however many charts came before', async () => {
  const draw = async () => [
    await funnelChart('Delivery', [{ name: 'Recipients', count: 2 }]),
    await barChart('Cost', [{ name: 'a', value: '1' }]),
    await timeChart('Sent', 'day', [{ at: '2026-11-01', count: 5 }]),
  ];
  expect(await draw()).toEqual(await draw());
});

test('names are escaped', async () => {
  const { svg } = await barChart('Cost', [{ name: '</text><script>&"\u0000', value: '1' }]);
  expect(labelsOf(svg)[0]).toMatch(/^&lt;\/text&gt;&lt;script&gt;&amp;("|&quot;)\\x00$/);
});
