import { test } from '@jest/globals'
import { aiSdkScenarios } from './ai-sdk-scenarios.ts'

test.each([...aiSdkScenarios])('AI SDK: $name', ({ run }) => run())
