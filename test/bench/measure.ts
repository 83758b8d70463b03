/** CPU-seconds of all threads of this process, which depend little on other load on the machine. */
export type Measured = { name: string; cpuS: number; wallS: number }

export async function measure(name: string, work: () => Promise<void> | void): Promise<Measured> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { name, cpuS: (user + system) / 1e6, wallS: (performance.now() - start) / 1000 }
}

export function printTable(title: string, rows: readonly (readonly (string | number)[])[]): void {
  const text = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? tidy(cell) : cell)))
  const widths = (text[0] ?? []).map((_, column) => Math.max(...text.map((row) => row[column]?.length ?? 0)))
  console.log(`\n${title}`)
  for (const row of text)
    console.log(
      `  ${row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  ')}`,
    )
}

function tidy(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}
