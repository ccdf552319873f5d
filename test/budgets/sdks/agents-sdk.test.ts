import { test } from '@jest/globals'
import { agentsSdkScenarios } from './agents-sdk-scenarios.ts'

test.each([...agentsSdkScenarios])('OpenAI Agents SDK: $name', ({ run }) => run())
