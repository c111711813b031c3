export function formatPoll(counts: {
  readonly asked: number;
  readonly reports: number;
  readonly unclear: number;
}): string {
  const { asked, reports, unclear } = counts;
  if (asked === 0) return 'No delivery report is missing, or all were asked for just now.';
  const parts = [
    `${asked} request${asked === 1 ? '' : 's'} looked up`,
    `${reports} final delivery report${reports === 1 ? '' : 's'}`,
    ...(unclear > 0 ? [`${unclear} without a clear answer`] : []),
  ];
  return `${parts.join('; ')}.`;
}

/** Why asking ended early. @param words of the service */
export function refusedText(words: string): string {
  return `The service refused the credential: ${words}`;
}
