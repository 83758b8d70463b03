/** The platform of a cluster: all shared state is in Kafka, and processes persist nothing locally. */
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { KafkaConfig, SASLOptions } from 'kafkajs'
import type { StateStore } from '../../aggregate/checkpoint/state-store.js'
import { openTopicStateStore } from '../../aggregate/checkpoint/topic-state-store.js'
import type { KafkaChoice, SaslChoice } from '../../core/config/index.js'
import { claimSharedOrigin, sharedOrigin } from '../../core/coordination/cluster-origin.js'
import { createGenerations } from '../../core/coordination/generations.js'
import { createLiveStates } from '../../core/coordination/live-states.js'
import { createReplays } from '../../core/coordination/replays.js'
import { DextapeError } from '../../core/domain/errors.js'
import { createSharedKeys } from '../../core/keys/cluster-keys.js'
import { createCodec } from '../../core/log/codec.js'
import { openFencedTopic } from '../../core/log/kafka/fenced-topic.js'
import { runMembership } from '../../core/log/kafka/group.js'
import { type KafkaLog, openKafkaLog } from '../../core/log/kafka/kafka-log.js'
import { AGGREGATE_GROUP, blocksOf, stateTopic } from '../../core/log/port.js'
import type { SchemaRegistry } from '../../core/log/registry.js'
import { httpRegistry } from '../../core/log/registry-http.js'
import { inLogRegistry } from '../../core/log/registry-in-log.js'
import { fetchWith, readClientTls } from '../../core/runtime/client-tls.js'
import type { Reachability } from '../../core/runtime/part-health.js'
import { newScratch } from '../../core/runtime/scratch.js'
import { memoryCheckpoints } from '../../ingest/checkpoints.js'
import { claimCheckpoints } from '../../ingest/shared-checkpoints.js'
import { LOG_STOP_MS, type Platform, type PlatformDeps } from './platform.js'

const REQUEST_TIMEOUT_MS = 10_000
/** A serve node that lags more than this reads the store instead. */
const UPDATES_HELD_MS = 3_600_000
const SCRATCH = 'dextape-fold-'

export function openKafka(
  { ssl, tls, sasl, ...choice }: KafkaChoice,
  reachability: Reachability,
  patienceMs: number,
): KafkaLog {
  return openKafkaLog({
    ...choice,
    ssl: ssl && tls !== undefined ? readClientTls(tls) : ssl,
    ...(sasl === undefined ? {} : { sasl: saslOptions(sasl) }),
    clientId: 'dextape',
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    patienceMs,
    onUnreachable: reachability.onUnreachable,
    onReachable: reachability.onReachable,
  })
}

/** A token file is read for each connection: another program renews it. */
function saslOptions(sasl: SaslChoice): NonNullable<KafkaConfig['sasl']> {
  if (sasl.mechanism !== 'oauthbearer') return sasl as SASLOptions
  const { mechanism, tokenFile } = sasl
  return { mechanism, oauthBearerProvider: async () => ({ value: readToken(tokenFile) }) }
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new DextapeError({
      code: 'token_unreadable',
      what: `Cannot read the token for Kafka in ${file}`,
      retry: true,
      got: (cause as NodeJS.ErrnoException).code ?? (cause as Error).message,
      fix: 'Set kafka.sasl.token_file to a file that this user can read.',
      cause,
    })
  }
}

export function registryOf({ registry }: KafkaChoice, log: KafkaLog): SchemaRegistry {
  if (registry.kind === 'in_log') return inLogRegistry(log)
  const { url, tls } = registry
  return httpRegistry({ url, ...(tls === undefined ? {} : { fetch: fetchWith(tls) }) })
}

export function kafkaPlatform(choice: KafkaChoice, { logger, health, signal: stopping }: PlatformDeps): Platform {
  const log = openKafka(choice, health.reachabilityOf('log'), Number.POSITIVE_INFINITY)
  const generations = createGenerations(log, { logger })
  const replays = createReplays(log, { logger })
  const liveStates = createLiveStates(log)
  const writer = randomBytes(8).toString('hex')
  let scratch: string | undefined
  stopping.addEventListener('abort', () => setTimeout(() => void log.close(), LOG_STOP_MS).unref(), { once: true })

  /** A cache for the running fold. The topic is authoritative, so a crash leaves only garbage behind. */
  function scratchFolder(): string {
    scratch ??= newScratch(SCRATCH)
    return scratch
  }

  function openState(chain: string, replayedIn?: number): Promise<StateStore> {
    // LMDB takes a path with a dot in its last part for a file.
    const folder = replayedIn === undefined ? chain : `${chain}-e${replayedIn}`
    return openTopicStateStore(openFencedTopic(log, stateTopic(chain, replayedIn)), join(scratchFolder(), folder))
  }

  /** A topic that cannot be deleted is left: nothing reads it any more. */
  async function dropState(chain: string, epoch?: number): Promise<void> {
    const topic = stateTopic(chain, epoch)
    if (!(await log.topicNames()).includes(topic)) return
    const state = openFencedTopic(log, topic)
    try {
      await state.claim(() => {})
      await state.drop()
    } catch (error) {
      logger.warn('cannot delete a topic that is no longer used', { topic, error })
    } finally {
      await state.close()
    }
  }

  return {
    log,
    codec: createCodec(registryOf(choice, log)),
    instance: `${hostname()} ${process.pid}`,
    claimOrigin: (claim) => claimSharedOrigin(log, claim, writer),
    origin: () => sharedOrigin(log),
    checkpointsFor: async ({ id }) =>
      id === null ? memoryCheckpoints() : claimCheckpoints(log, { sourceId: id, writer }),
    openState: async (chain) => openState(chain, (await liveStates.of(chain))?.epoch),
    generations,
    replay: {
      replays,
      openState,
      installState: (chain, epoch) => liveStates.switchTo(chain, epoch),
      async dropState(chain, epoch) {
        if ((await liveStates.of(chain))?.epoch !== epoch) await dropState(chain, epoch)
      },
      async dropReplacedState(chain) {
        const live = await liveStates.of(chain)
        if (live !== undefined) await dropState(chain, live.replaced ?? undefined)
      },
    },
    createKeys: () => createSharedKeys(log, { node: writer, logger }),
    followChains: (onChains, signal) =>
      runMembership(
        log,
        {
          group: AGGREGATE_GROUP,
          // The first generation's topic represents the chain, whichever generation is live.
          topics: async () => (await log.topicNames()).filter((topic) => blocksOf(topic)?.generation === 1),
          onAssigned: (topics) => onChains(topics.flatMap((topic) => blocksOf(topic)?.chain ?? [])),
          onTrouble: (reason) => logger.warn('removed from the consumer group; rejoining', { reason }),
        },
        signal,
      ),
    updatesHeldMs: UPDATES_HELD_MS,
    async close() {
      await replays.close()
      await generations.close()
      await log.close()
      if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
    },
  }
}
