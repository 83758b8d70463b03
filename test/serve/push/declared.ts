/** Checks frames and params against the declared topics and notices. */
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { NOTICES } from '../../../services/serve/push/notices.js'
import { TOPICS } from '../../../services/serve/push/topics/index.js'
import type { Frame } from '../push-client.js'

const results = new Map(
  [...TOPICS.values(), ...NOTICES].map(({ name, result }) => [name, TypeCompiler.Compile(result)]),
)
const params = new Map([...TOPICS.values()].map((topic) => [topic.name, TypeCompiler.Compile(topic.params)]))

/** Differences between a push and its declaration; empty if there are none. */
export function undeclared(topic: string, { result }: Frame): string[] {
  const word = result?.topic ?? 'switch_main_pair'
  const check = results.get(NOTICES.some(({ name }) => name === word) ? word : topic)
  if (check === undefined) return [`nothing declares ${topic}`]
  return [...check.Errors(result)].map(({ path, message }) => `${topic}${path}: ${message}`)
}

export function undeclaredParams([topic, ...rest]: readonly unknown[]): string[] {
  return [...(params.get(String(topic))?.Errors(rest) ?? [])].map(({ path, message }) => `${path}: ${message}`)
}
