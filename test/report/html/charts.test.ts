import { describe, expect, test } from 'vitest';
import {
  createBarChart,
  createDateChart,
  createFunnelChart,
  createTimeChart,
} from '../../../src/report/html/charts.ts';

/** The texts of a chart in order. */
const labelsOf = (marks: string): string[] =>
  [...marks.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text ?? '');

/** The widths of bars in order. */
const widthsOf = (marks: string, colour = 'var(--bar)'): number[] =>
  [...marks.matchAll(/<rect [^>]*width="([^"]*)"[^>]* fill="([^"]*)"/g)]
    .filter(([, , fill]) => fill === colour)
    .map(([, width]) => Math.round(Number(width)));

describe('createFunnelChart', () => {
  test('a funnel has a bar for each step, with its share of the first', () => {
    const steps = [
      { name: 'Recipients', count: 2_000 },
      { name: 'Accepted', count: 1_500 },
      { name: 'Delivered', count: 500 },
    ];
    const { marks, description } = createFunnelChart('Delivery', steps);
    expect(description).toBe('Recipients 2,000 (100.0 %), Accepted 1,500 (75.0 %), Delivered 500 (25.0 %)');
    expect(widthsOf(marks)).toEqual([400, 300, 100]);
  });

  test('a step with almost all is not shown as all', () => {
    const steps = [
      { name: 'Recipients', count: 100_000 },
      { name: 'Accepted', count: 99_999 },
    ];
    expect(createFunnelChart('Delivery', steps).description).toContain('Accepted 99,999 (99.9 %)');
  });

  test('a funnel of nothing has no shares', () => {
    const { description } = createFunnelChart('Delivery', [{ name: 'Recipients', count: 0 }]);
    expect(description).toBe('Recipients 0');
  });
});

describe('createDateChart', () => {
  const months = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `20${String(25 + Math.floor(index / 12))}-${String((index % 12) + 1).padStart(2, '0')}`,
      value: `${(index * 7) % 10}.5`,
    }));

  test('months are in the order of time, whatever they cost', () => {
    const [first, second, third] = months(3);
    if (!first || !second || !third) throw new Error('three');
    const { description } = createDateChart('Price by month', [third, first, second]);
    expect(description).toBe('2025-01 0.5, 2025-02 7.5, 2025-03 4.5');
  });

  test('months before the last fifteen are one exact sum in front of them, without a bar', () => {
    const { description, marks } = createDateChart('Price by month', months(18));
    expect(description).toMatch(/^3 earlier 12\.5, 2025-04 1\.5, .*, 2026-06 9\.5$/);
    expect(widthsOf(marks)).toHaveLength(15);
    expect(createDateChart('Price by month', months(16)).description).toMatch(/^2025-01 0\.5, /);
  });
});

describe('createBarChart', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `S${index}`, value: `${index}.10` }));

  test('bars are sorted by size and labelled digit by digit', () => {
    const bars = [
      { name: 'small', value: '0.10000000000000000001' },
      { name: 'large', value: '12345678901234567890.5' },
      { name: 'larger', value: '12345678901234567890.6' },
    ];
    expect(createBarChart('Cost', bars).description).toBe(
      'larger 12,345,678,901,234,567,890.6, large 12,345,678,901,234,567,890.5, small 0.10000000000000000001',
    );
  });

  test('bars beyond fifteen are one exact sum without a bar', () => {
    const { marks, description } = createBarChart('Cost', many(20));
    expect(description).toMatch(/^S19 19\.10, .*, S5 5\.10, 5 others 10\.50$/);
    expect(widthsOf(marks)).toHaveLength(15);
  });

  test('further bars without names are added to that sum', () => {
    const { description } = createBarChart('Cost', many(16), { count: 1_000, value: '2.005' });
    expect(description).toMatch(/, S1 1\.10, 1,001 others 2\.105$/);
  });

  test('a sixteenth bar is shown, because the sum would replace only one', () => {
    const { description } = createBarChart('Cost', many(16));
    expect(description).toMatch(/S1 1\.10, S0 0\.10$/);
  });

  test('bars below zero go to the left', () => {
    const { marks } = createBarChart('Cost', [
      { name: 'cost', value: '3' },
      { name: 'credit', value: '-1' },
    ]);
    expect(marks.match(/<rect x="100" y="18" width="300" height="10" fill="var\(--bar\)"/)).not.toBeNull();
    expect(marks.match(/<rect x="0" y="52" width="100" height="10" fill="var\(--bar\)"/)).not.toBeNull();
  });

  test('two bars of one name stay two', () => {
    const { marks } = createBarChart('Cost', [
      { name: '(none)', value: '3' },
      { name: '(none)', value: '2' },
    ]);
    expect(widthsOf(marks)).toEqual([400, 267]);
  });

  test('long names are cut at whole characters to fit', () => {
    const { marks } = createBarChart('Cost', [{ name: '👩‍👩‍👧'.repeat(100), value: '1.00' }]);
    expect(labelsOf(marks)[0]).toMatch(/^(👩‍👩‍👧){8,30}…$/u);
  });
});

describe('createTimeChart', () => {
  test('each day has a bar, except days without sends', () => {
    const points = [
      { at: '2026-11-01', count: 5 },
      { at: '2026-11-04', count: 10 },
    ];
    const { marks, description } = createTimeChart('Sent', 'day', points);
    expect(description).toBe('15 from 2026-11-01 to 2026-11-04, by day; most in 2026-11-04: 10.');
    expect(widthsOf(marks)).toHaveLength(2);
  });

  test('the hour that repeats when clocks go back is one bar', () => {
    const points = ['01', '02', '02', '03'].map((hour) => ({ at: `2026-04-05T${hour}`, count: 4 }));
    const { marks, description } = createTimeChart('Sent', 'hour', points);
    expect(description).toContain('most in 2026-04-05T02: 8.');
    expect(widthsOf(marks)).toHaveLength(3);
  });

  test('bars can be minutes', () => {
    const points = ['59', '58'].map((minute) => ({ at: `2026-11-03T23:${minute}`, count: 3 }));
    const { marks, description } = createTimeChart('Sent', 'minute', points);
    expect(description).toBe(
      '6 from 2026-11-03T23:58 to 2026-11-03T23:59, by minute; most in 2026-11-03T23:58: 3.',
    );
    expect(widthsOf(marks)).toHaveLength(2);
    expect(labelsOf(marks)).toContain('23:59');
  });

  test('bars can be seconds', () => {
    const points = ['59', '58'].map((second) => ({ at: `2026-11-03T23:59:${second}`, count: 3 }));
    const { marks, table } = createTimeChart('Sent', 'second', points);
    expect(widthsOf(marks)).toHaveLength(2);
    expect(labelsOf(marks)).toContain('23:59:59');
    expect(table).toEqual({
      titles: ['Second', 'Number'],
      lines: [
        ['2026-11-03 23:59:58', '3'],
        ['2026-11-03 23:59:59', '3'],
      ],
    });
  });

  test('times are below the bars and round counts beside them', () => {
    const points = [
      { at: '2026-11-03T22', count: 1_200_000 },
      { at: '2026-11-04T03', count: 2_345_678 },
    ];
    expect(labelsOf(createTimeChart('Sent', 'hour', points).marks)).toEqual([
      ...['0', '500,000', '1,000,000', '1,500,000', '2,000,000', '2,500,000'],
      ...['22:00', '23:00', '4 Nov', '01:00', '02:00', '03:00'],
    ]);
  });

  test('a chart of zeros has a scale from zero to one and no bars', () => {
    const { marks } = createTimeChart('Sent', 'day', [{ at: '2026-11-01', count: 0 }]);
    expect(labelsOf(marks)).toEqual(['0', '1', '1 Nov']);
    expect(widthsOf(marks)).toEqual([]);
  });

  test('bars are visible in any number', () => {
    const start = Date.UTC(2020, 0, 1);
    const points = Array.from({ length: 4_000 }, (_, day) => {
      return { at: new Date(start + day * 86_400_000).toISOString().slice(0, 10), count: 1 };
    });
    expect(new Set(widthsOf(createTimeChart('Sent', 'day', points).marks))).toEqual(new Set([1]));
  });

  test('a chart without points says so', () => {
    expect(labelsOf(createTimeChart('Sent', 'day', []).marks)).toEqual(['Nothing to show.']);
  });
});

test('equal figures have equal bytes, whatever was drawn before', () => {
  const draw = () => [
    createFunnelChart('Delivery', [{ name: 'Recipients', count: 2 }]),
    createBarChart('Cost', [{ name: 'a', value: '1' }]),
    createTimeChart('Sent', 'day', [{ at: '2026-11-01', count: 5 }]),
  ];
  expect(draw()).toEqual(draw());
});

test('names in charts are escaped', () => {
  const { marks } = createBarChart('Cost', [{ name: '</text><script>&"\u0000', value: '1' }]);
  expect(labelsOf(marks)[0]).toMatch(/^&lt;\/text&gt;&lt;script&gt;&amp;("|&quot;)\\x00$/);
});
