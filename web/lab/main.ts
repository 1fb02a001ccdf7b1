import './style.css';
import { Page } from './page.js';
import { start } from './start.js';

await start((lab) => new Page(lab));
