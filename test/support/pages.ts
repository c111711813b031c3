import type { Column } from '../../src/report/column.ts';
import type { Sheet } from '../../src/report/formats/sheet.ts';
import type { Chart } from '../../src/report/html/chart.ts';
import { createBarChart, createFunnelChart, createTimeChart } from '../../src/report/html/charts.ts';
import { formatHtml } from '../../src/report/html/page.ts';
import { concatenate, inOrder } from './sheets.ts';

/** Malicious names, and names that are hard to display. */
export const hostileNames = [
  '<script>alert(1)</script>',
  '"><img src="https://example.org/x.png" onerror="alert(1)">',
  "=cmd|' /C calc'!A0",
  'W'.repeat(120),
  'قسم المبيعات والتسويق في الشرق الأوسط',
  '株式会社日本通信サービス東京本社営業部第一課第二係長殿御中宛',
  'a\u0000b\u001b[2J',
];

type Line = { readonly name: string; readonly number: number };

/** A name column, followed by figures and times. */
function columnsOf(count: number): Column<Line>[] {
  const kinds = ['integer', 'decimal', 'time'] as const;
  const name: Column<Line> = { key: 'n', title: 'SubAccount', kind: 'text', value: (line) => line.name };
  const others = Array.from({ length: count - 1 }, (_, index): Column<Line> => {
    const kind = kinds[index % 5 === 4 ? 2 : index % 2] ?? 'integer';
    const value = ({ number }: Line) =>
      kind === 'time'
        ? new Date(Date.UTC(2026, 10, 3))
        : kind === 'integer'
          ? number * 123_456
          : `${number * 1_234}.5000`;
    return { key: `c${index}`, title: kind === 'time' ? 'Last' : `Figure ${index}`, kind, value };
  });
  return [name, ...others];
}

/** A bill of hostile and ordinary names, with every chart. */
export function aBill(columns: number): Sheet<Line> {
  const names = [...hostileNames, ...Array.from({ length: 30 }, (_, index) => `SubAccount ${index}`)];
  const lines = names.map((name, number) => ({ name, number }));
  return {
    title: 'Bill of <b>November</b>',
    subtitle: ['2026-11-01 to 2026-12-01 (Pacific/Auckland)', hostileNames.join(' ')],
    asOf: { at: new Date('2026-12-01T00:00:00Z') },
    columns: columnsOf(columns),
    rows: inOrder([lines]),
    totals: () => [{ name: 'Total', number: 999 }],
    charts: allCharts,
  };
}

function allCharts(): Chart[] {
  const days = Array.from({ length: 30 }, (_, day) => `2026-11-${String(day + 1).padStart(2, '0')}`);
  const costs = (names: readonly string[]) =>
    names.map((name, index) => ({ name, value: `${(names.length - index) * 1_234_567}.2500` }));
  return [
    createFunnelChart('Delivery', [
      { name: 'Recipients', count: 1_250_000 },
      { name: 'Accepted', count: 1_190_000 },
      { name: 'Delivered', count: 0 },
    ]),
    createTimeChart(
      'Recipients by day',
      'day',
      days.map((at, day) => ({ at, count: (day % 7) * 1_234_567 })),
    ),
    createTimeChart(
      'Recipients by hour',
      'hour',
      days
        .slice(0, 2)
        .flatMap((day) => ['08', '09', '23'].map((hour) => ({ at: `${day}T${hour}`, count: 3 }))),
    ),
    createTimeChart('Recipients of one day', 'day', [{ at: '2026-11-01', count: 1 }]),
    createBarChart('Cost by SubAccount (NZD)', costs([...hostileNames, ...days])),
    createBarChart('Cost by ChargeCode (NZD)', [
      { name: 'C-1', value: '100.00' },
      { name: 'Credit', value: '-23.50' },
    ]),
    createBarChart('Cost of nothing', []),
  ];
}

export async function pageOf<Row>(sheet: Sheet<Row>): Promise<string> {
  return (await concatenate(formatHtml(sheet))).toString();
}
