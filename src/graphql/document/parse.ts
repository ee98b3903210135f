import type { DocumentNode, ParseOptions, Source, Token } from 'graphql'
import { GraphQLError, getOperationAST, Kind, Lexer, parse, Source as SourceText, TokenKind } from 'graphql'
import { graphqlLimits } from '../../core/input-limits.ts'
import { unstorable } from '../../core/storable-text.ts'
import { truncate } from '../../core/truncate.ts'
import { requestError } from './request-error.ts'

/** The maximum number of tokens in a document, at which parsing stops. GraphiQL's introspection has about 300. */
const MAX_TOKENS = graphqlLimits.documentTokens.most
/** The maximum nesting of braces, brackets and parentheses, because parsing, validation and execution recurse. */
const MAX_DEPTH = graphqlLimits.documentDepth.most
const MAX_NAME_LENGTH = graphqlLimits.documentName.most

/**
 * Parses a document.
 * @throws GraphQLError `GRAPHQL_PARSE_FAILED` for a document that is invalid, too long or nested too deeply, or has a name
 *   that is too long; `BAD_USER_INPUT` for a text that cannot be stored.
 */
export function parseWithinLimits(source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    requireHarmless(typeof source === 'string' ? new SourceText(source) : source)
    return parse(source, { ...options, maxTokens: MAX_TOKENS })
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const { message, source: text, positions, extensions } = error
    throw extensions['code'] === undefined
      ? requestError('GRAPHQL_PARSE_FAILED', message, { source: text, positions })
      : error
  }
}

/** @throws GraphQLError when a document must not be parsed: it is nested too deeply, or has a hostile name or text. */
function requireHarmless(source: Source): void {
  const lexer = new Lexer(source)
  let depth = 0
  for (let count = 0; count <= MAX_TOKENS; count++) {
    const token = lexer.advance()
    if (token.kind === TokenKind.EOF) return
    depth += Number(opening.has(token.kind)) - Number(closing.has(token.kind))
    const error = problemOf(token, depth, source)
    if (error) throw error
  }
}

function problemOf({ kind, start, value }: Token, depth: number, source: Source): GraphQLError | null {
  const place = { source, positions: [start] }
  if (depth > MAX_DEPTH)
    return new GraphQLError(`Syntax Error: The document is nested deeper than ${MAX_DEPTH} levels.`, place)
  if (kind === TokenKind.NAME && value.length > MAX_NAME_LENGTH)
    return new GraphQLError(`Syntax Error: A name has more than ${MAX_NAME_LENGTH} characters.`, place)
  const why = texts.has(kind) ? unstorable(value) : null
  return why === null ? null : requestError('BAD_USER_INPUT', `A text of the document ${why}.`, place)
}

const texts: ReadonlySet<TokenKind> = new Set([TokenKind.STRING, TokenKind.BLOCK_STRING])
const opening: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** @throws GraphQLError `BAD_USER_INPUT` when a document does not have exactly one operation to execute. */
export function requireOperation(document: DocumentNode, operationName: string | null | undefined): void {
  if (getOperationAST(document, operationName)) return
  throw requestError('BAD_USER_INPUT', missingOperation(document, operationName))
}

function missingOperation({ definitions }: DocumentNode, operationName: string | null | undefined): string {
  if (operationName != null) return `The document has no operation named "${truncate(operationName, MAX_NAME_LENGTH)}".`
  const has = definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  return has ? 'The document has several operations. Name one in operationName.' : 'The document has no operation.'
}
