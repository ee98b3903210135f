// @slow
import { describeWithOwnPackages } from '../support/own-packages.ts'

describeWithOwnPackages(import.meta.url, 'what reads text of strangers', () => import('./rules.ts'))
