/** Renders messages in a worker thread: a hostile one takes seconds. */

import { answerTasks } from '../thread/task-worker.ts'
import { renderMarkdown } from './markdown.ts'

answerTasks(renderMarkdown)
