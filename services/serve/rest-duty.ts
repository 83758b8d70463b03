import type { Server as TlsServer } from 'node:https'
import { PLANS } from '../core/domain/plans.js'
import { type Certificate, readCertificate, watchCertificate } from '../core/runtime/tls-files.js'
import { revisionsOf } from './chain-directory.js'
import type { CreateRest } from './duties.js'
import { addExportRoutes } from './export/export-routes.js'
import { createExportService } from './export/export-service.js'
import { createHotHistory } from './history/hot/hot-history.js'
import { createLaunchWallets } from './history/launch-wallets.js'
import { createQueryLanes } from './history/query-lanes.js'
import { createSmartWallets } from './history/smart-wallets.js'
import { createStoredSignals } from './history/stored-signals.js'
import { createWalletHistory } from './history/wallet-trades.js'
import { addMcpRoute } from './mcp/mcp-route.js'
import { addOperatorRoutes } from './operator/operator-routes.js'
import { addPages } from './pages/page-routes.js'
import { createUntilPushed } from './pushed-positions.js'
import { createAnswerCache } from './rest/answer-cache.js'
import { createPageEncoder } from './rest/page-files.js'
import { addServiceRoutes, createRestServer } from './rest/rest-server.js'
import { addWsTokenRoute } from './rest/ws-token-route.js'
import { ANSWER_BYTES, HOLDERS_HOLD_MS, HOT_HISTORY_BYTES, LAUNCH_WAIT_MS } from './serve-deps.js'
import { addClickhouseRoute } from './sql/clickhouse-route.js'
import { addSqlRoutes } from './sql/sql-routes.js'
import { createSqlService } from './sql/sql-service.js'

export const createRest: CreateRest = (deps, parts, { isLoaded, wsPort, status }) => {
  const { memory, chains, gate, tokens, queries, badKeys, metrics, nowMs } = parts
  const { config, logger, store, flush = async () => {} } = deps
  const lanes = createQueryLanes(store, metrics)
  const { hotHistoryBytes: maxBytes = HOT_HISTORY_BYTES, holdersHoldMs: holdMs = HOLDERS_HOLD_MS } = deps
  const hot = createHotHistory(lanes, flush, { maxBytes, holdMs, nowMs })
  memory.onApplied(hot.apply)
  metrics.gauge('dextape_serve_hot_history_bytes', 'Memory of candles and events kept for requests', [], () => [
    { labels: {}, value: hot.bytes },
  ])
  const answers = createAnswerCache(revisionsOf(chains), deps.answerBytes ?? ANSWER_BYTES)
  metrics.gauge('dextape_serve_answers_bytes', 'Memory of encoded REST answers', [], () => [
    { labels: {}, value: answers.bytes },
  ])
  const { pushedPositions: positions } = deps
  const untilPushed = positions === undefined ? () => undefined : createUntilPushed(memory, positions)
  const { plans = PLANS } = config
  const sql = createSqlService({ memory, store, flush: deps.flush, untilPushed, nowMs, plans })
  const smart = createSmartWallets(lanes, sql.untilStored, { nowMs })
  const walletParts = {
    wallets: createWalletHistory(lanes, flush, { holdMs, nowMs }),
    signals: createStoredSignals(lanes, sql.untilStored, smart, { nowMs }),
    launches: createLaunchWallets(lanes, hot, deps.launchWaitMs ?? LAUNCH_WAIT_MS),
    smart,
  }
  const tls = config.tls?.kind === 'files' ? config.tls : undefined
  const restDeps = {
    ...{ chains, store: lanes.cheap, hot, flush, answers, gate, queries, metrics, logger, isLoaded, untilPushed },
    badKeys,
    ...walletParts,
    encodePage: createPageEncoder(store.read),
    ...{ envelope: config.envelope, corsOrigins: config.corsOrigins ?? { kind: 'any' } },
  } as const
  const rest = createRestServer(restDeps, tls && readCertificate(tls))
  if (tls !== undefined) {
    const onChange = (certificate: Certificate) => (rest.server as unknown as TlsServer).setSecureContext(certificate)
    watchCertificate({ files: tls, onChange, logger, checkEveryMs: deps.certificateCheckMs })
  }
  const sqlRoutes = { sql, store: lanes.cheap, plans, gate, metrics, logger, envelope: config.envelope, isLoaded }
  addSqlRoutes(rest, sqlRoutes)
  addClickhouseRoute(rest, sqlRoutes)
  addExportRoutes(rest, { ...sqlRoutes, exports: createExportService({ sql, store, chains, plans }) })
  const metricsText = deps.metricsText ?? metrics
  addOperatorRoutes(rest, {
    ...{ gate, metrics, isLoaded, status, metricsText, logger, nowMs, store: lanes.cheap },
    ...{ log: deps.log, codec: deps.codec, keys: deps.keys },
  })
  addMcpRoute(rest, { gate, metrics, isLoaded })
  addServiceRoutes(rest, { memory, metrics: metricsText, status, repairs: deps.repairs })
  const { publicUrls = [], publicWsUrl = { kind: 'none' } } = config
  addPages(rest, { ...config, publicUrls, publicWsUrl })
  addWsTokenRoute(rest, { gate, tokens, wsPort, isLoaded, publicUrls, publicWsUrl })
  return rest
}
