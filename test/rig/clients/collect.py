"""Runs clients/python for the tests: a plan of subscriptions as JSON in, JSON lines of what they deliver out."""

import asyncio
import json
import random
import sys
import threading

from dextape import AsyncClient, Client, DextapeError


def say(name, **facts):
    print(json.dumps({"name": name, **facts}, default=str), flush=True)


def failure_of(error):
    return {"code": error.code, "action": error.action, "status": error.status}


async def collect(client, name, plan, go):
    subscription = client.subscribe(*plan["params"], **plan.get("options", {}))
    try:
        say(name, started=await subscription.started())
        while True:
            try:
                # A consumer that gives up waiting at any moment must not lose an item.
                item = await asyncio.wait_for(anext(subscription), random.uniform(0.001, 0.2))
            except TimeoutError:
                continue
            except StopAsyncIteration:
                break
            say(name, item=item, cursor=subscription.cursor)
            if plan.get("hold") and not go.is_set():
                while not subscription.is_paused:
                    await asyncio.sleep(0.01)
                say(name, paused=subscription.queued)
                await go.wait()
        say(name, ended=True)
    except DextapeError as error:
        say(name, failure=failure_of(error))


async def main(plan):
    go = asyncio.Event()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with AsyncClient(plan["url"], plan["key"], min_backoff_s=0.05, max_backoff_s=0.2) as client:
        tasks = [loop.create_task(collect(client, name, one, go)) for name, one in plan["subscriptions"].items()]
        while (await reader.readline()).strip() == b"go":
            go.set()
        await client.close()
        await asyncio.gather(*tasks)


def main_sync(plan):
    with Client(plan["url"], plan["key"], min_backoff_s=0.05, max_backoff_s=0.2) as client:
        [(name, one)] = plan["subscriptions"].items()
        subscription = client.subscribe(*one["params"], **one.get("options", {}))

        def close():
            while sys.stdin.readline().strip() == "go":
                pass
            subscription.close()

        threading.Thread(target=close, daemon=True).start()
        try:
            say(name, started=subscription.started())
            for item in subscription:
                say(name, item=item, cursor=subscription.cursor)
            say(name, ended=True)
        except DextapeError as error:
            say(name, failure=failure_of(error))


plan = json.loads(sys.argv[1])
if plan["kind"] == "sync":
    main_sync(plan)
else:
    asyncio.run(main(plan))
