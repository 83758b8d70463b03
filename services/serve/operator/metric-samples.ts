/** Values of the process's own metrics, from their text form: the one form that covers all its threads. */
export type MetricSample = { name: string; labels: Record<string, string>; value: number }

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

export function readSamples(text: string): MetricSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined) return []
    const named = [...labels.matchAll(LABEL)].map(([, label = '', content = '']) => [
      label,
      content.replace(/\\(.)/g, '$1'),
    ])
    return [{ name, labels: Object.fromEntries(named) as Record<string, string>, value: Number(value) }]
  })
}

/** The sum over the samples of a name that have these labels. */
export function sumOf(samples: readonly MetricSample[], name: string, labels: Record<string, string> = {}): number {
  const fits = (sample: MetricSample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  return samples.reduce((sum, sample) => (sample.name === name && fits(sample) ? sum + sample.value : sum), 0)
}

/** An upper bound of a quantile of what was observed since: the first bucket that holds as many. NaN without observations. */
export function quantileSince(
  before: readonly MetricSample[],
  now: readonly MetricSample[],
  bucketName: string,
  labels: Record<string, string>,
  part: number,
): number {
  const bounds = [...new Set(now.filter(({ name }) => name === bucketName).map((sample) => sample.labels.le ?? ''))]
  const counts = bounds
    .map((le) => ({
      le: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
      count: sumOf(now, bucketName, { ...labels, le }) - sumOf(before, bucketName, { ...labels, le }),
    }))
    .sort((a, b) => a.le - b.le)
  const all = counts.at(-1)?.count ?? 0
  return all === 0 ? Number.NaN : (counts.find(({ count }) => count >= all * part)?.le ?? Number.NaN)
}
