import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Caller, FuzzInput, Place } from './input.ts'
import type { Program } from './program.ts'
import { pick, randomOf } from './random.ts'

/** The longest time for which an input may keep others waiting, in milliseconds of the main thread's time. */
const LONGEST_TURN = 50
const LONGEST_LINE = 2048
/** How much an input may write to the log on average, in bytes. */
const LOG_PER_INPUT = 200
/** How much the memory may grow after the first quarter, in bytes. */
const MOST_GROWTH = 250 * 2 ** 20
const ANSWER_MS = 30_000
const BATCH = 64
const AT_ONCE = 8

/** What an input did that none may do. */
interface Offence {
  /** Repeats it: `FUZZ_SEED=… FUZZ_CASE=… npm run fuzz`. */
  readonly at: string
  readonly input: string
  readonly did: string
}

/** The result of a campaign. */
export interface Outcome {
  readonly inputs: number
  readonly seconds: number
  readonly offences: readonly Offence[]
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>
  readonly loggedBytes: number
  /** The growth after the first quarter, in bytes. */
  readonly grownBy: number
}

/** A case of a campaign: the input, and the number that repeats it. */
interface Case {
  readonly number: number
  readonly input: FuzzInput
}

/** Which cases are sent: one, or about so many, chosen by the seed. */
export interface Choice {
  readonly seed: string
  readonly only: number | null
  readonly about: number
}

/**
 * Combines places with kinds of values, half of them as the strongest caller and half as another one. All combinations
 * are too many: another seed chooses others.
 */
export function casesOf(places: readonly Place[], { seed, only, about }: Choice): Case[] {
  const share = about / places.reduce((sum, { kinds }) => sum + kinds.length, 0)
  let number = -1
  return places.flatMap(({ name, callers, kinds, put }) =>
    kinds.flatMap((kind): Case[] => {
      number += 1
      const random = randomOf(`${seed}:${number}`)
      const isChosen = random() < share
      if (only === null ? !isChosen : only !== number) return []
      const [strongest] = callers
      const caller = random() < 0.5 ? strongest : pick(random, callers)
      return [{ number, input: { name: `${name} = ${kind.name}`, caller, ...put(kind.make(random)) } }]
    }),
  )
}

/** Sends the cases, and reports what they did. */
export async function runCampaign(
  cases: readonly Case[],
  { seed }: Choice,
  { program, headersOf }: { readonly program: Program; headersOf(caller: Caller): Readonly<Record<string, string>> },
): Promise<Outcome> {
  const begun = performance.now()
  const campaign = new Campaign(seed, program, headersOf)
  await program.longestTurn()
  let early: number | null = null
  for (let start = 0; start < cases.length && program.death() === null; start += BATCH) {
    await campaign.send(cases.slice(start, start + BATCH))
    if (early === null && start > cases.length / 4) early = await memoryOf(program)
  }
  const grownBy = early === null ? 0 : ((await memoryOf(program)) ?? early) - early
  campaign.judgeWhole(cases, grownBy)
  return { inputs: cases.length, seconds: (performance.now() - begun) / 1000, ...campaign.results(), grownBy }
}

const memoryOf = async (program: Program) => (program.death() === null ? (await program.memory()).rss : null)

class Campaign {
  readonly #seed: string
  readonly #program: Program
  readonly #headersOf: (caller: Caller) => Readonly<Record<string, string>>
  readonly #agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  readonly #offences: Offence[] = []
  readonly #statuses: Record<string, number> = {}
  #loggedBytes = 0
  #clients = 0

  constructor(seed: string, program: Program, headersOf: (caller: Caller) => Readonly<Record<string, string>>) {
    this.#seed = seed
    this.#program = program
    this.#headersOf = headersOf
  }

  /** Sends a batch, several cases at once; each alone if one of them kept others waiting. */
  async send(batch: readonly Case[]): Promise<void> {
    const waiting = [...batch]
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) this.#check(next, await this.#sendOne(next))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    if (this.#program.death() === null && (await this.#program.longestTurn()) > LONGEST_TURN)
      for (const each of batch) await this.#requireShort(each)
    this.#readLog(batch)
  }

  /** Reports what only all cases together did. */
  judgeWhole(cases: readonly Case[], grownBy: number): void {
    this.#agent.destroy()
    const last = cases.at(-1)
    if (last === undefined) return
    const death = this.#program.death()
    if (death !== null) this.#report(last, death)
    if (grownBy > MOST_GROWTH) this.#report(last, `and all others took ${Math.round(grownBy / 2 ** 20)} MB`)
    const isFlood = this.#loggedBytes > cases.length * LOG_PER_INPUT + 20_000
    if (isFlood) this.#report(last, `and all others logged ${this.#loggedBytes} bytes`)
  }

  results(): Pick<Outcome, 'offences' | 'statuses' | 'loggedBytes'> {
    return { offences: this.#offences, statuses: this.#statuses, loggedBytes: this.#loggedBytes }
  }

  #report({ number, input: { name, caller } }: Case, did: string): void {
    this.#offences.push({ at: `FUZZ_SEED=${this.#seed} FUZZ_CASE=${number}`, input: `${name} (${caller})`, did })
  }

  /** Sends a case as a new client each time, whose attempts nothing counts. */
  #sendOne({ input }: Case): Promise<Answer> {
    this.#clients += 1
    const client = `2001:db8:${(this.#clients >> 16).toString(16)}:${(this.#clients & 0xffff).toString(16)}::1`
    const headers = { 'x-forwarded-for': client, ...this.#headersOf(input.caller) }
    return input.socket
      ? converse(this.#program.url, input, headers)
      : send(this.#program.url, this.#agent, input, headers)
  }

  #check(each: Case, { status, text }: Answer): void {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (status === 0) this.#report(each, 'got no answer')
    else if (status >= 500 && status < 600 && status !== 503) this.#report(each, `got ${status}`)
    if (text.includes('"INTERNAL"')) this.#report(each, `got INTERNAL: ${text.slice(0, 300)}`)
  }

  /** Sends a case alone: the median of three, because collections of garbage do not repeat. */
  async #requireShort(each: Case): Promise<void> {
    const turns: number[] = []
    for (let n = 0; n < 3 && (turns[0] ?? Infinity) > LONGEST_TURN; n++) {
      await this.#program.longestTurn()
      await this.#sendOne(each)
      // Work after the answer counts too.
      await sleep(10)
      turns.push(await this.#program.longestTurn())
    }
    const turn = turns.sort((one, other) => one - other)[Math.floor(turns.length / 2)] ?? 0
    if (turn > LONGEST_TURN) this.#report(each, `kept others waiting for ${Math.round(turn)} ms`)
  }

  #readLog(batch: readonly Case[]): void {
    const [first] = batch
    for (const line of this.#program.lines()) {
      this.#loggedBytes += line.length + 1
      const isLong = line.length > LONGEST_LINE
      if (first && (isLong || /"level":(?:50|60)/.test(line)))
        this.#report(first, `or one of ${batch.length} logged ${line.length} characters: ${line.slice(0, 600)}`)
    }
  }
}

interface Answer {
  /** 0: none. */
  readonly status: number
  /** The beginning of the body. */
  readonly text: string
}

/** How long a websocket may stay silent after the last message, in milliseconds. */
const SILENCE_MS = 250
/** The status of a websocket that the service closed because of an error of its own. */
const SERVER_ERROR = 500

/** Sends messages over a websocket, then waits until it is closed or silent. Its close code counts as the status. */
function converse(url: string, input: FuzzInput, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const { authorization, ...others } = headers
  const socket = new WebSocket(`${url.replace('http', 'ws')}${input.path}`, 'graphql-transport-ws', { headers: others })
  return new Promise((resolve) => {
    let text = ''
    let silence: NodeJS.Timeout | undefined
    const quiet = () => {
      clearTimeout(silence)
      silence = setTimeout(() => socket.terminate(), SILENCE_MS)
    }
    const deadline = setTimeout(() => socket.terminate(), ANSWER_MS)
    socket.on('open', () => {
      for (const message of input.socket?.(authorization) ?? []) socket.send(message)
      quiet()
    })
    socket.on('message', (data: Buffer) => {
      if (text.length < 20_000) text += data.toString()
      quiet()
    })
    socket.on('error', () => {})
    socket.on('close', (code) => {
      clearTimeout(deadline)
      clearTimeout(silence)
      // 1006: we ended it.
      const isOurs = code === 1006 && socket.protocol !== ''
      resolve({ status: code === 1011 || code === 4500 ? SERVER_ERROR : isOurs ? 101 : code === 1006 ? 0 : code, text })
    })
  })
}

function send(url: string, agent: Agent, input: FuzzInput, more: Readonly<Record<string, string>>): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const { method, path, headers, body } = input
  return new Promise((resolve) => {
    const sent = request({ hostname, port, path, method, agent, headers: { ...more, ...headers } }, (answer) => {
      let text = ''
      const done = () => resolve({ status: answer.statusCode ?? 0, text })
      answer.setEncoding('utf8').on('data', (piece: string) => {
        if (text.length < 20_000) text += piece
        // Events go on without end.
        if (answer.headers['content-type']?.startsWith('text/event-stream')) answer.destroy()
      })
      answer.on('close', done)
      if (answer.headers['content-type']?.startsWith('text/event-stream')) setTimeout(() => answer.destroy(), 200)
    })
    sent.setTimeout(ANSWER_MS, () => sent.destroy())
    // The service may close a connection that waits for its next request, in the moment in which that is sent.
    sent.on('error', () => resolve(sent.reusedSocket ? send(url, new Agent(), input, more) : { status: 0, text: '' }))
    sent.end(body ?? undefined)
  })
}
