/** Runs an event while no request to a node is pending. */
export function eventsBetweenRequests() {
  let waiting: { requestsLeft: number; event: () => Promise<void> } | null = null
  let happening: Promise<void> | null = null
  let underWay = 0
  let idle: (() => void) | null = null
  function between(event: () => Promise<void>): Promise<void> {
    happening = (async () => {
      if (underWay > 0)
        await new Promise<void>((resolve) => {
          idle = resolve
        })
      await event()
    })().finally(() => {
      happening = null
    })
    return happening
  }
  return {
    between,
    after(requests: number, event: () => Promise<void>): void {
      waiting = { requestsLeft: requests, event }
    },
    async during<T>(requests: number, work: () => Promise<T>): Promise<T> {
      while (happening !== null) await happening
      if (waiting !== null) {
        waiting.requestsLeft -= requests
        const { requestsLeft, event } = waiting
        if (requestsLeft <= 0) {
          waiting = null
          await between(event)
        }
      }
      underWay++
      try {
        return await work()
      } finally {
        underWay--
        if (underWay === 0) idle?.()
      }
    },
  }
}
