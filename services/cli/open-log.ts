/** The log a command works on, with its codec. */
import type { Config, DataDir } from '../core/config/index.js'
import { ConfigError } from '../core/domain/errors.js'
import { type Codec, createCodec } from '../core/log/codec.js'
import { openEmbedded } from '../core/log/embedded.js'
import { blocksTopic, type EventLog } from '../core/log/port.js'

export type OpenLog = { log: EventLog; codec: Codec }

export function openLog(config: Config, dir: DataDir): OpenLog {
  if (config.log.kind === 'kafka') {
    throw new ConfigError({
      code: 'kafka_not_built',
      what: 'KAFKA_BROKERS is set, but this version keeps its log in the data directory only',
      fix: 'Leave KAFKA_BROKERS unset.',
    })
  }
  const { log, registry } = openEmbedded({ path: dir.logPath })
  return { log, codec: createCodec(registry) }
}

export async function withLog<T>(config: Config, dir: DataDir, use: (open: OpenLog) => Promise<T>): Promise<T> {
  const open = openLog(config, dir)
  try {
    return await use(open)
  } finally {
    await open.log.close()
  }
}

/** `eth` stands for its blocks. */
export const topicNamed = (name: string): string => (name.includes('.') ? name : blocksTopic(name))
