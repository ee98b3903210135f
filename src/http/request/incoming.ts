import { IncomingMessage } from 'node:http'
import { inTurn } from '../../core/concurrency/time-slice.ts'
import { bodyLimits } from '../../core/input-limits.ts'

/** A larger piece is passed on as it arrived. In bytes. */
const SMALL_BYTES = 1024
/** Bodies whose pieces are larger on average may have any number of them. In bytes. */
const LEAST_AVERAGE_BYTES = 16
/** How much of a body is read before it is another request's turn, in bytes: about half of what one read takes. */
const TURN_BYTES = 32 * 1024
/** The owner of turns for questions about our health, which must not wait behind a flood from the address of who asks. */
const HEALTH = 'health'

/** The small pieces of a body that have arrived, and wait to be passed on as one. */
interface Gathered {
  pieces: Buffer[]
  /** The number of all small pieces so far. */
  count: number
  /** The bytes in them. */
  bytes: number
  /** Whether the pieces are passed on in a coming turn. */
  isDue: boolean
  /** Whether the rest of the body is ignored. */
  isRefused: boolean
}

/**
 * A request whose body may arrive in chunks of any size. Node passes on each chunk of a read by itself: 64 KiB contain
 * 11,000 chunks of one byte, and all of them before anything else happens. This one joins the small ones of a read, and
 * reads on when it is its client's turn. It does so after each large piece too: the system may hold megabytes of each of
 * a hundred bodies, and Node would read up to two of one before it turns to the next.
 */
export class Incoming extends IncomingMessage {
  /** Returns the name of the client; null: the request stands for it. */
  clientOf: ((request: IncomingMessage) => string) | null = null
  /** Called when the body has more small pieces than `bodyLimits` permit, of which nothing more is passed on. */
  onTooManyPieces: (() => void) | null = null
  private gathered: Gathered | null = null
  /** The bytes of the body that have been passed on, and how many of them in this turn. */
  private passedOn = 0
  private passedOnInTurn = 0
  /** Whether the next turn is awaited, and whether the reader has asked for more meanwhile. */
  private waits = false
  private isAsked = false

  /** Node calls this for each piece of the body, and with null at its end. Returns whether it reads on at once. */
  override push(piece: Buffer | null): boolean {
    const { gathered } = this
    if (gathered === null && !this.startsToGather(piece)) return this.pushLarge(piece)
    if (gathered?.isRefused) return false
    if (piece === null || piece.length > SMALL_BYTES) {
      this.passOn()
      return this.pushLarge(piece)
    }
    return this.gather(piece)
  }

  /** The reader calls this, by way of Node, when it wants more. */
  override _read(size: number): void {
    if (this.waits) this.isAsked = true
    else super._read(size)
  }

  private pushLarge(piece: Buffer | null): boolean {
    if (piece === null || !this.endsTurn(piece)) return super.push(piece)
    this.waits = true
    setImmediate(() =>
      inTurn(
        () => turnOwner(this),
        () => this.readOn(),
      ),
    )
    super.push(piece)
    return false
  }

  /** Returns whether a piece is the last one of a turn, and not of the body. */
  private endsTurn({ length }: Buffer): boolean {
    this.passedOn += length
    this.passedOnInTurn += length
    if (this.passedOnInTurn < TURN_BYTES) return false
    this.passedOnInTurn = 0
    return this.passedOn < Number(this.headers['content-length'] ?? Number.POSITIVE_INFINITY)
  }

  private readOn(): void {
    this.waits = false
    if (!this.isAsked) return
    this.isAsked = false
    if (!this.destroyed) super._read(0)
  }

  /** Only chunks can be smaller than what arrives at once. */
  private startsToGather(piece: Buffer | null): piece is Buffer {
    return piece !== null && piece.length <= SMALL_BYTES && this.headers['transfer-encoding'] !== undefined
  }

  private gather(piece: Buffer): boolean {
    this.gathered ??= { pieces: [], count: 0, bytes: 0, isDue: false, isRefused: false }
    const { gathered } = this
    gathered.pieces.push(piece)
    gathered.count += 1
    gathered.bytes += piece.length
    if (gathered.count > bodyLimits.smallPieces.most + gathered.bytes / LEAST_AVERAGE_BYTES) {
      Object.assign(gathered, { pieces: [], isRefused: true })
      this.onTooManyPieces?.()
    } else if (!gathered.isDue) {
      gathered.isDue = true
      setImmediate(() =>
        inTurn(
          () => turnOwner(this),
          () => this.passOn(),
        ),
      )
    }
    return false
  }

  /** Passes the gathered pieces on, upon which their reader asks Node for more. */
  private passOn(): void {
    const { gathered } = this
    if (gathered === null) return
    const { pieces } = gathered
    Object.assign(gathered, { pieces: [], isDue: false })
    if (pieces.length > 0 && !this.destroyed) super.push(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces))
  }
}

/** Returns who takes turns with others when a request is worked on: its client, or the request if that is not known. */
export function turnOwner(request: IncomingMessage): string | object {
  if (/^\/(?:healthz|readyz)(?:\?|$)/.test(request.url ?? '')) return HEALTH
  return (request instanceof Incoming && request.clientOf?.(request)) || request
}
