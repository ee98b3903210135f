import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { isTimeSliceOver } from '../../../src/core/concurrency/time-slice.ts'
import { createDocumentCache } from '../../../src/graphql/document/document-cache.ts'
import { createPersistedQueries } from '../../../src/graphql/document/persisted-queries.ts'
import { createAnswerCache } from '../../../src/graphql/transport/answer-cache.ts'
import type { GraphqlServer } from '../../../src/graphql/transport/server.ts'
import { silent } from '../../support/scratch.ts'

test('simultaneous requests are executed in turns, so that one address delays another by one time slice', async () => {
  const served: string[] = []
  const total = 21
  let finish: () => void = () => {}
  const allServed = new Promise<void>((resolve) => (finish = resolve))
  const server = (_request: unknown, _response: unknown, { caller }: { caller: { address: string } }) => {
    served.push(caller.address)
    while (!isTimeSliceOver());
    if (served.length === total) finish()
  }
  const answers = createAnswerCache({
    schema: buildSchema('type Query { a: Int }'),
    server: server as unknown as GraphqlServer,
    persisted: createPersistedQueries(),
    documents: createDocumentCache(),
    log: silent,
    now: () => new Date(),
  })
  const send = (address: string) => {
    const request = new IncomingMessage(new Socket())
    const caller = { address, credential: 'ac_key', organization: null }
    answers.handle(request, new ServerResponse(request), { caller })
  }
  for (let count = 1; count < total; count++) send('192.0.2.1')
  send('192.0.2.2')
  const turns = new Promise((resolve) => setImmediate(resolve))
  await turns
  // The event loop has turned long before all are served.
  expect(served.length).toBeLessThan(total / 2)
  await allServed
  expect(served.indexOf('192.0.2.2')).toBeLessThan(4)
})
