import { lookAtAll } from "./axe";

lookAtAll({ width: 1440, height: 900 });
