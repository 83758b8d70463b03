// SPDX-License-Identifier: Apache-2.0
// Stand-ins of the same public interface as pools of Curve (StableSwap and CryptoSwap) and the vaults of Balancer V2 and V3, each
// with a constant product. compile.ts compiles them into tokens.json.
pragma solidity >=0.8.20 <0.9.0;

interface IMoved {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function balanceOf(address holder) external view returns (uint256);
}

function product(uint256 amountIn, uint256 reserveIn, uint256 reserveOut) pure returns (uint256) {
    return (amountIn * 9996 * reserveOut) / (reserveIn * 10_000 + amountIn * 9996);
}

contract CurveBase {
    address[2] public coins;

    constructor(address coin0, address coin1) {
        coins = [coin0, coin1];
    }

    function trade(uint256 i, uint256 j, uint256 dx, uint256 least) internal returns (uint256 dy) {
        (uint256 x, uint256 y) = (IMoved(coins[i]).balanceOf(address(this)), IMoved(coins[j]).balanceOf(address(this)));
        require(IMoved(coins[i]).transferFrom(msg.sender, address(this), dx), "in");
        dy = product(IMoved(coins[i]).balanceOf(address(this)) - x, x, y);
        require(dy >= least && IMoved(coins[j]).transfer(msg.sender, dy), "out");
    }
}

contract CurveStable is CurveBase {
    constructor(address coin0, address coin1) CurveBase(coin0, coin1) {}

    function exchange(int128 i, int128 j, uint256 dx, uint256 least) external returns (uint256) {
        return trade(uint256(uint128(i)), uint256(uint128(j)), dx, least);
    }
}

contract CurveCrypto is CurveBase {
    constructor(address coin0, address coin1) CurveBase(coin0, coin1) {}

    function exchange(uint256 i, uint256 j, uint256 dx, uint256 least) external payable returns (uint256) {
        return trade(i, j, dx, least);
    }
}

contract BalancerVault {
    struct SingleSwap {
        bytes32 poolId;
        uint8 kind;
        address assetIn;
        address assetOut;
        uint256 amount;
        bytes userData;
    }

    struct FundManagement {
        address sender;
        bool fromInternalBalance;
        address payable recipient;
        bool toInternalBalance;
    }

    mapping(bytes32 => mapping(address => uint256)) private held;

    function fund(bytes32 id, address token, uint256 amount) external {
        IMoved(token).transferFrom(msg.sender, address(this), amount);
        held[id][token] += amount;
    }

    function swap(
        SingleSwap memory single,
        FundManagement memory funds,
        uint256 limit,
        uint256 deadline
    ) external payable returns (uint256 out) {
        require(funds.sender == msg.sender && deadline >= block.timestamp && single.kind == 0, "request");
        mapping(address => uint256) storage pool = held[single.poolId];
        out = product(single.amount, pool[single.assetIn], pool[single.assetOut]);
        require(out >= limit, "limit");
        pool[single.assetIn] += single.amount;
        pool[single.assetOut] -= out;
        require(IMoved(single.assetIn).transferFrom(msg.sender, address(this), single.amount), "in");
        require(IMoved(single.assetOut).transfer(funds.recipient, out), "out");
    }
}

contract BalancerV3Vault {
    struct VaultSwapParams {
        uint8 kind;
        address pool;
        address tokenIn;
        address tokenOut;
        uint256 amountGivenRaw;
        uint256 limitRaw;
        bytes userData;
    }

    mapping(address => mapping(address => uint256)) private held;
    mapping(address => uint256) private reservesOf;
    mapping(address => int256) private owed;
    address[] private touched;
    bool private isUnlocked;

    function fund(address pool, address token, uint256 amount) external {
        IMoved(token).transferFrom(msg.sender, address(this), amount);
        held[pool][token] += amount;
        reservesOf[token] = IMoved(token).balanceOf(address(this));
    }

    function unlock(bytes calldata data) external returns (bytes memory) {
        isUnlocked = true;
        (bool ok, bytes memory answer) = msg.sender.call(data);
        require(ok, "called back");
        for (uint256 i = 0; i < touched.length; i++) require(owed[touched[i]] == 0, "BalanceNotSettled");
        delete touched;
        isUnlocked = false;
        return answer;
    }

    function settle(address token, uint256 hint) external returns (uint256 credit) {
        require(isUnlocked, "locked");
        uint256 now_ = IMoved(token).balanceOf(address(this));
        credit = now_ - reservesOf[token];
        if (credit > hint) credit = hint;
        reservesOf[token] = now_;
        change(token, -int256(credit));
    }

    function swap(VaultSwapParams memory params) external returns (uint256 calculated, uint256, uint256) {
        require(isUnlocked && params.kind == 0, "locked");
        mapping(address => uint256) storage pool = held[params.pool];
        calculated = product(params.amountGivenRaw, pool[params.tokenIn], pool[params.tokenOut]);
        require(calculated >= params.limitRaw, "limit");
        pool[params.tokenIn] += params.amountGivenRaw;
        pool[params.tokenOut] -= calculated;
        change(params.tokenIn, int256(params.amountGivenRaw));
        change(params.tokenOut, -int256(calculated));
        return (calculated, params.amountGivenRaw, calculated);
    }

    function sendTo(address token, address to, uint256 amount) external {
        require(isUnlocked, "locked");
        change(token, int256(amount));
        reservesOf[token] -= amount;
        require(IMoved(token).transfer(to, amount), "out");
    }

    function change(address token, int256 by) private {
        owed[token] += by;
        touched.push(token);
    }
}
